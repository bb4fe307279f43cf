"""A bidirectional simple recurrent unit over sequences of words (Lei, Zhang, Wang, Dai & Artzi
2018: *Simple Recurrent Units for Highly Parallelizable Recurrence*).

Its gates see the word and, unit by unit, the last cell: unlike an LSTM it has no matrix product
of the last output, so nearly all of its work is one product over all words. ``sru_kernels`` has
the formulas. The paper's highway around the unit is left out: the input is part of the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy
from thinc.api import Model, get_array_module, to_numpy

from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.layers.mixing import new_seed
from spacy_nmparse.layers.parameters import SHAPES, check_least, uniform
from spacy_nmparse.layers.products import packed
from spacy_nmparse.layers.sru_kernels import drop, run_backward, run_forward

#: Words whose gates are computed by one matrix product when nothing is learned: few enough for
#: caches.
WINDOW = 512

#: float (words, width), int32 lengths of sequences -> float (words, width + 2 * units)
Input = tuple[Any, numpy.ndarray]


def BiSRU(width: int) -> Model[Input, Any]:
    """Build the layer: its output is its input, followed by what the two directions say.

    Args:
        width: units of each direction.

    Raises:
        ValueError: a width below 1.
    """
    check_least("BiSRU", 1, width=width)
    return Model(
        "nmparse_bisru",
        forward,
        init=init,
        dims={"nI": None, "nH": width, "nO": None},
        params=dict.fromkeys(("W", "v", "b")),
        attrs={"dropout_rate": 0.0},
    )


def shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """Shape of each parameter; nI must be set."""
    n_in, width = model.get_dim("nI"), model.get_dim("nH")
    return {"W": (2 * 3 * width, n_in), "v": (2, 2 * width), "b": (2 * 3 * width,)}


SHAPES["nmparse_bisru"] = shapes


def init(model: Model, X: Any = None, Y: Any = None) -> None:
    """Initialize the parameters; nI must be set."""
    n_in, width = model.get_dim("nI"), model.get_dim("nH")
    W, v, b = map(model.ops.alloc, shapes(model).values())
    W[:] = uniform(model, W.shape, n_in + width)
    v[:] = uniform(model, v.shape, 2 * width)
    for name, array in (("W", W), ("v", v), ("b", b)):
        model.set_param(name, array)


def forward(model: Model, X: Input, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Run the layer. Dropout (``dropout_rate``) drops outputs of its units."""
    words, lengths = X
    xp = get_array_module(words)
    width = model.get_dim("nH")
    n_in = words.shape[1]
    if not is_train:
        said, _ = run_layers([model], words, lengths, (), n_in + 2 * width)
        return said, not_trained
    W: Any = model.get_param("W")
    b, v = to_numpy(model.get_param("b")), to_numpy(model.get_param("v"))
    found: Any = to_numpy(packed(W).times(words))
    gates = found.reshape(-1, 2, 3 * width)
    hidden = numpy.empty((len(words), 2 * width), dtype="float32")
    cells = numpy.empty((len(words), 2, width), dtype="float32")
    run_forward(gates, b, v, lengths, hidden, cells)
    rate = model.attrs["dropout_rate"]
    seed = new_seed() if rate else 0
    drop(hidden, rate, seed)
    outputs: Any = xp.asarray(hidden)

    def backprop(d: Any) -> Any:
        d_hidden = numpy.array(to_numpy(d[:, n_in:]), order="C")
        drop(d_hidden, rate, seed)
        d_gates, d_v = run_backward(d_hidden.reshape(-1, 2, width), gates, cells, v, lengths)
        flat: Any = xp.asarray(d_gates.reshape(len(words), 6 * width))
        model.inc_grad("v", xp.asarray(d_v))
        model.inc_grad("W", matmul(flat.T, words))
        model.inc_grad("b", flat.sum(axis=0))
        return d[:, :n_in] + matmul(flat, W)

    return xp.hstack([words, outputs]), backprop


def run_layers(
    layers: Sequence[Model],
    words: Any,
    lengths: numpy.ndarray,
    tops: Sequence[Any],
    kept: int = 0,
) -> tuple[Any, list[Any]]:
    """Run layers one upon another, learning nothing, and multiply what they say by weights: on the
    CPU so many words at a time that all this stays in the caches.

    Args:
        layers: ``BiSRU``s, the lowest first.
        words, lengths: as of ``Input``.
        tops: arrays of weights (outputs, width + 2 * units of all layers).
        kept: columns of what the layers say that are given back.

    Returns:
        float (words, kept); and, of each array of weights, float (words, outputs).
    """
    xp = get_array_module(words)
    ends = [words.shape[1]]
    parts = []
    for layer in layers:
        b, v = (to_numpy(layer.get_param(name)) for name in ("b", "v"))
        parts.append((packed(layer.get_param("W")), b, v))
        ends.append(ends[-1] + v.shape[1])
    multiply = [packed(W) for W in tops]
    products = [xp.empty((len(words), len(W)), dtype="float32") for W in tops]
    result = xp.empty((len(words), kept), dtype="float32")
    on_cpu = xp is numpy  # a GPU's words go to and fro once, not for every window
    runs = list(windows(lengths)) if on_cpu else [(slice(None), slice(0, len(words)))]
    room = numpy.empty((max((w.stop - w.start for _, w in runs), default=0), ends[-1]), "float32")
    for sequences, part in runs:
        said = room[: part.stop - part.start]
        said[:, : ends[0]] = to_numpy(words[part])
        for end, (weights, b, v) in zip(ends, parts, strict=False):
            gates = to_numpy(weights.times(xp.asarray(said[:, :end])))
            gates = gates.reshape(-1, 2, 3 * v.shape[1] // 2)
            run_forward(gates, b, v, lengths[sequences], said[:, end:])
        result[part] = xp.asarray(said[:, :kept])
        for weights, product in zip(multiply, products, strict=True):
            product[part] = weights.times(xp.asarray(said))
    return result, products


def windows(lengths: numpy.ndarray) -> Iterator[tuple[slice, slice]]:
    """Runs of whole sequences, of WINDOW words or one sequence: their places, and their words'."""
    place = word = first = 0
    for i, n in enumerate([*lengths.tolist(), WINDOW]):
        if word > first and word + n - first > WINDOW:
            yield slice(place, i), slice(first, word)
            place, first = i, word
        word += n


def not_trained(d: Any) -> Any:
    """The backward pass of what was run without is_train."""
    raise RuntimeError("BiSRU: only what was run with is_train can be back-propagated.")
