"""The parameters of ``tree_scores``, for scorers that know P(head | word).

Every word gets a vector as dependent and one as head: ``arc_W``, ``arc_b`` and a leaky ReLU make
them of the token vectors. ``arc_U`` and ``root`` score arcs, ``alpha`` weighs that in moves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from thinc.api import Model, to_numpy

from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.layers.parameters import uniform
from spacy_nmparse.scorers.tree_scores import TreeScores

LEAK = 0.1  # slope of the leaky ReLU below 0, as in Dozat & Manning (2017)
#: Weights whose gradients the kernels give.
TREE_WEIGHTS = ("arc_U", "root", "alpha")


def tree_shapes(model: Model, n_alpha: int) -> dict[str, tuple[int, ...]]:
    """Shape of each parameter; the width is the model's dimension nA."""
    width = model.get_dim("nA")
    return {
        "arc_W": (2 * width, model.get_dim("nI")),
        "arc_b": (2 * width,),
        "arc_U": (2, width, width),
        "root": (width,),
        "alpha": (n_alpha,),
    }


def init_tree(model: Model, name: str, array: Any) -> None:
    """Fill a new parameter."""
    shape = array.shape
    if name == "arc_W":
        array[:] = uniform(model, shape, shape[0] + shape[1])
    elif name == "arc_U":
        array[:] = uniform(model, shape, shape[1] + shape[2])
    elif name == "root":
        array[:] = uniform(model, shape, shape[0])
    elif name == "alpha":
        array[:] = 1.0


def run_tree(
    model: Model, words: Any, items: Any, lengths: numpy.ndarray, is_train: bool
) -> tuple[TreeScores, Callable[[Any], Any]]:
    """Score the heads of a batch's words.

    Args:
        model: a scorer with these parameters and the attributes dropout_rate and tree_weight.
        words: float32 (words, nI); only for the gradients.
        items: float32 (words, 2 * nA): their products by ``arc_W``.
        lengths: int32, words of each stretch that surely begins and ends a sentence.
        is_train: whether it will be back-propagated.

    Returns:
        The scores; and what takes their gradient, float32 (words, 2, nA), and gives that of words.
    """
    items += model.get_param("arc_b")
    slope: Any = None
    if is_train:
        slope = model.ops.xp.where(items > 0, 1.0, LEAK).astype("float32")
        if model.attrs["dropout_rate"]:
            slope *= model.ops.get_dropout_mask(items.shape, model.attrs["dropout_rate"])
        items = items * slope
    else:
        items = model.ops.xp.maximum(items, LEAK * items)
    weights: Any = {name: to_numpy(model.get_param(name)) for name in ("arc_U", "root")}
    scores = TreeScores(
        to_numpy(items).reshape(len(items), 2, model.get_dim("nA")),
        lengths,
        weights,
        model.attrs["tree_weight"],
    )

    def backprop(d: numpy.ndarray) -> Any:
        d_items: Any = model.ops.xp.asarray(d.reshape(items.shape)) * slope
        model.inc_grad("arc_W", matmul(d_items.T, words))
        model.inc_grad("arc_b", d_items.sum(axis=0))
        return matmul(d_items, model.get_param("arc_W"))

    return scores, backprop
