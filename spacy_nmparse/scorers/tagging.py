"""Tags as an auxiliary task: parts of speech and morphological features.

Two layers score the values of tags. In training, the token vectors must also tell the value of each
attribute, so that a treebank teaches them more than its trees do. And the words' vectors above the
first recurrent layer must tell the reading of each word, which is what the values of its tags are
together. Parsing runs the second layer only, and only if the tags are wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from thinc.api import Model, to_numpy

from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.layers.products import packed
from spacy_nmparse.scorers.tag_gradient import tag_gradient
from spacy_nmparse.scorers.tags import UNKNOWN, GoldTags

#: Words whose readings are scored at a time.
BLOCK = 256

#: Weight of the loss of readings, times that of the attributes' loss.
READING_WEIGHT = 0.3


def Tagging() -> Model[Any, Any]:
    """Build such a layer: from words, float32 (words, nI), to scores of all values of all
    attributes, one attribute after the other, float32 (words, nO). It has no parameters before
    ``set_sizes``."""
    return Model(
        "nmparse_tagging",
        forward,
        init=init,
        dims={"nI": None, "nO": None},
        params=dict.fromkeys(("W", "b")),
        attrs={"sizes": []},
    )


def init(model: Model, X: Any = None, Y: Any = None) -> None:
    """Initialize the parameters, to zeros; nI must be set."""
    sizes = model.attrs["sizes"]
    if sizes:
        model.set_dim("nO", sum(sizes))
        model.set_param("W", model.ops.alloc((sum(sizes), model.get_dim("nI"))))
        model.set_param("b", model.ops.alloc((sum(sizes),)))


def forward(model: Model, vectors: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Score the tags of words."""
    W: Any = model.get_param("W")
    scores = packed(W).times(vectors)
    scores += model.get_param("b")

    def backprop(d_scores: Any) -> Any:
        model.inc_grad("W", matmul(d_scores.T, vectors))
        model.inc_grad("b", d_scores.sum(axis=0))
        return matmul(d_scores, W)

    return scores, backprop


def learn_values(model: Model, vectors: Any, tags: GoldTags, weight: float) -> Any:
    """Add the gradients of the layer's parameters.

    Args:
        model: the layer.
        vectors: float32 (words, nI).
        tags: the words' tags.
        weight: of this loss, the summed negative log likelihood of all attributes' values.

    Returns:
        The gradient of the vectors, float32 (words, nI).
    """
    scores, backprop = model(vectors, is_train=True)
    d_scores = to_numpy(scores)
    tag_gradient(d_scores, tags.values, model.attrs["sizes"], weight)
    return backprop(model.ops.asarray(d_scores))


def learn_readings(model: Model, vectors: Any, tags: GoldTags, weight: float) -> Any:
    """As ``learn_values``, but the loss is READING_WEIGHT times the summed negative log likelihood
    of the readings, of which there is one softmax. The score of a reading is the sum of those of
    its values."""
    ops: Any = model.ops
    table = ops.asarray(tags.table)
    values, backprop = model(vectors, is_train=True)
    for rows in blocks(len(values)):
        gold = tags.readings[rows]
        known = numpy.nonzero(gold != UNKNOWN)[0]
        d_scores = ops.softmax(matmul(values[rows], table.T), inplace=True)
        d_scores[ops.asarray(known), ops.asarray(gold[known])] -= 1
        d_scores *= ops.asarray(READING_WEIGHT * weight * (gold != UNKNOWN), "float32")[:, None]
        values[rows] = matmul(d_scores, table)
    return backprop(values)


def blocks(n: int) -> list[slice]:
    """The rows of n words, few enough at a time for the scores of all readings."""
    return [slice(start, start + BLOCK) for start in range(0, n, BLOCK)]
