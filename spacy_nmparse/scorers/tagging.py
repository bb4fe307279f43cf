"""A second thing to learn from: parts of speech and morphological features.

In training the words' vectors must also tell their tags, so that a treebank teaches
them more than its trees do. Parsing runs this layer only if the tags are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
from thinc.api import Model, to_numpy

from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.layers.parameters import renew
from spacy_nmparse.scorers.tag_gradient import tag_gradient

#: A tag that is not known: nothing is learned from it.
UNKNOWN = -1

#: Words whose readings are scored at a time.
BLOCK = 256


def Tagging() -> Model[Any, Any]:
    """Build the layer: from token vectors, float32 (words, nI), to scores of all values of all
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


def set_sizes(model: Model, sizes: Sequence[int]) -> None:
    """Tell the layer how many values each attribute has. It then has to be initialized."""
    model.attrs["sizes"] = list(sizes)
    renew(model)
    for name in ("W", "b"):
        model.set_param(name, None)
    model.set_dim("nO", None, force=True)  # type: ignore[arg-type]


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
    scores = matmul(vectors, W.T)
    scores += model.get_param("b")

    def backprop(d_scores: Any) -> Any:
        model.inc_grad("W", matmul(d_scores.T, vectors))
        model.inc_grad("b", d_scores.sum(axis=0))
        return matmul(d_scores, W)

    return scores, backprop


def shapes(model: Model, sizes: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Shape of each parameter that attributes of these sizes ask for.

    Raises:
        ValueError: the layer was made for others.
    """
    if list(sizes) != model.attrs["sizes"]:
        raise ValueError(f"tags of sizes {model.attrs['sizes']} were learned, not of {list(sizes)}")
    if not sizes:
        return {}
    return {"W": (sum(sizes), model.get_dim("nI")), "b": (sum(sizes),)}


def learn_tags(model: Model, vectors: Any, tags: numpy.ndarray, weight: float) -> Any:
    """Add the gradients of the layer's parameters.

    Args:
        model: the layer.
        vectors: float32 (words, nI).
        tags: int32 (words, attributes), of each word the index of its value of each attribute, or
            UNKNOWN.
        weight: of this loss, the summed negative log likelihood of the tags.

    Returns:
        The gradient of the vectors, float32 (words, nI).
    """
    scores, backprop = model(vectors, is_train=True)
    d_scores = to_numpy(scores)
    tag_gradient(d_scores, tags, model.attrs["sizes"], weight)
    return backprop(model.ops.asarray(d_scores))


def best_readings(scores: numpy.ndarray, values: numpy.ndarray) -> numpy.ndarray:
    """The best of the readings, which say what tags of a word occur together, int32 (words,). The
    score of a reading is the sum of those of its values.

    Args:
        scores: float32 (words, sum of sizes), what the layer predicts.
        values: float32 (readings, sum of sizes): 1 where a reading has a value, 0 elsewhere.
    """
    best = numpy.empty(len(scores), dtype="int32")
    for start in range(0, len(scores), BLOCK):
        rows = slice(start, start + BLOCK)
        best[rows] = matmul(scores[rows], values.T).argmax(axis=1)
    return best
