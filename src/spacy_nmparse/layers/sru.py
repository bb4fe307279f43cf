"""A bidirectional simple recurrent unit over sequences of words (Lei, Zhang, Wang, Dai & Artzi
2018: *Simple Recurrent Units for Highly Parallelizable Recurrence*).

Its gates see the word and, unit by unit, the last cell: unlike an LSTM it has no matrix product
of the last output, so nearly all of its work is one product over all words. ``sru_kernels`` has
the formulas. The paper's highway around the unit is left out: the input is part of the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
from thinc.api import Model, get_array_module, to_numpy

from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.layers.parameters import uniform
from spacy_nmparse.layers.products import packed
from spacy_nmparse.layers.sru_kernels import run_backward, run_forward

#: Words whose gates are computed by one matrix product when nothing is learned: few enough for
#: caches.
WINDOW = 512

#: float (words, width), int32 lengths of sequences, and whether products may round numbers to
#: bfloat16 -> float (words, width + 2 * units)
Input = tuple[Any, numpy.ndarray, bool]


def BiSRU(width: int) -> Model[Input, Any]:
    """Build the layer: its output is its input, followed by what the two directions say.

    Args:
        width: units of each direction.

    Raises:
        ValueError: a width below 1.
    """
    if width < 1:
        raise ValueError(f"BiSRU: width {width} must be at least 1.")
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
    words, lengths, rounded = X
    xp = get_array_module(words)
    width = model.get_dim("nH")
    n_in = words.shape[1]
    W: Any = model.get_param("W")
    b, v = to_numpy(model.get_param("b")), to_numpy(model.get_param("v"))
    weights = packed(W, rounded)

    def products(inputs: Any) -> numpy.ndarray:
        found: Any = to_numpy(weights.times(inputs))
        return numpy.ascontiguousarray(found).reshape(-1, 2, 3 * width)

    if not is_train:
        result = numpy.empty((len(words), n_in + 2 * width), dtype="float32")
        result[:, :n_in] = to_numpy(words)
        for sequences, part in windows(lengths):
            run_forward(products(words[part]), b, v, lengths[sequences], result[part, n_in:])
        return xp.asarray(result), not_trained
    gates = products(words)
    hidden = numpy.empty((len(words), 2 * width), dtype="float32")
    cells = numpy.empty((len(words), 2, width), dtype="float32")
    run_forward(gates, b, v, lengths, hidden, cells)
    outputs: Any = xp.asarray(hidden)
    mask: Any = None
    if model.attrs["dropout_rate"]:
        mask = model.ops.get_dropout_mask(outputs.shape, model.attrs["dropout_rate"])
        outputs = outputs * mask

    def backprop(d: Any) -> Any:
        d_outputs = d[:, n_in:] if mask is None else d[:, n_in:] * mask
        d_hidden = numpy.ascontiguousarray(to_numpy(d_outputs).reshape(-1, 2, width))
        d_gates, d_v = run_backward(d_hidden, gates, cells, v, lengths)
        flat: Any = xp.asarray(d_gates.reshape(len(words), 6 * width))
        model.inc_grad("v", xp.asarray(d_v))
        model.inc_grad("W", matmul(flat.T, words))
        model.inc_grad("b", flat.sum(axis=0))
        return d[:, :n_in] + matmul(flat, W)

    return xp.hstack([words, outputs]), backprop


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
