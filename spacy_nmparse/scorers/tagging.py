"""A second thing to learn from: parts of speech and morphological features.

In training the token vectors must also tell the tags of their words, so that a treebank teaches
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


class Readings:
    """What tags of a word occur together, and how they are scored: the score of a reading is the
    sum of those of its values. The layer and the sums are one matrix product."""

    def __init__(self, values: numpy.ndarray) -> None:
        """Make readings.

        Args:
            values: int32 (readings, attributes), the index of the value of each attribute, or
                UNKNOWN where a reading says nothing of it.
        """
        self.values = values
        self._products: dict[int, tuple[Any, Any, Any, Any]] = {}

    def score(self, model: Model, vectors: Any) -> numpy.ndarray:
        """The scores of the readings of words, float32 (words, readings).

        Args:
            model: the layer.
            vectors: float32 (words, nI).
        """
        weights, bias = self._product(model)
        scores = matmul(vectors, weights.T)
        scores += bias
        return to_numpy(scores)

    def _product(self, model: Model) -> tuple[Any, Any]:
        """Weights and bias of the readings; made again when the layer's have changed."""
        W: Any = model.get_param("W")
        b: Any = model.get_param("b")
        known = self._products.get(model.id)
        if known is None or not ((known[0] == W).all() and (known[1] == b).all()):
            sizes = model.attrs["sizes"]
            chosen = numpy.zeros((len(self.values), sum(sizes)), dtype="float32")
            starts = numpy.cumsum([0, *sizes[:-1]])
            rows, columns = numpy.nonzero(self.values != UNKNOWN)
            chosen[rows, starts[columns] + self.values[rows, columns]] = 1
            indicator: Any = model.ops.asarray(chosen)  # type: ignore[arg-type]
            known = (W.copy(), b.copy(), matmul(indicator, W), indicator @ b)
            self._products[model.id] = known
        return known[2], known[3]


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
