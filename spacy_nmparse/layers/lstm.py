"""A bidirectional LSTM over sequences of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
from thinc.api import Model, get_array_module, to_numpy

from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.layers.lstm_kernels import run_backward, run_forward
from spacy_nmparse.layers.parameters import uniform

#: Words whose gates are computed by one matrix product when nothing is learned: few enough for
#: caches.
WINDOW = 512

#: float (words, width) and int32 lengths of sequences -> float (words, width + 2 * LSTM's width)
Input = tuple[Any, numpy.ndarray]


def BiLSTM(width: int) -> Model[Input, Any]:
    """Build the layer: its output is its input, followed by what the two directions say.

    Args:
        width: units of each direction.

    Raises:
        ValueError: a width below 1.
    """
    if width < 1:
        raise ValueError(f"BiLSTM: width {width} must be at least 1.")
    return Model(
        "nmparse_bilstm",
        forward,
        init=init,
        dims={"nI": None, "nH": width, "nO": None},
        params=dict.fromkeys(("W", "U", "b")),
        attrs={"dropout_rate": 0.0},
    )


def shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """Shape of each parameter; nI must be set."""
    n_in, width = model.get_dim("nI"), model.get_dim("nH")
    return {"W": (2 * 4 * width, n_in), "U": (2, width, 4 * width), "b": (2 * 4 * width,)}


def init(model: Model, X: Any = None, Y: Any = None) -> None:
    """Initialize the parameters; nI must be set. Forget gates are open at first."""
    n_in, width = model.get_dim("nI"), model.get_dim("nH")
    W, U, b = map(model.ops.alloc, shapes(model).values())
    W[:] = uniform(model, W.shape, n_in + width)
    U[:] = uniform(model, U.shape, 2 * width)
    b.reshape(2, 4, width)[:, 1] = 1.0
    for name, array in (("W", W), ("U", U), ("b", b)):
        model.set_param(name, array)


def forward(model: Model, X: Input, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Run the LSTM. Dropout (``dropout_rate``) drops outputs of its units."""
    words, lengths = X
    W: Any = model.get_param("W")
    xp = get_array_module(words)
    width = model.get_dim("nH")
    U = to_numpy(model.get_param("U"))
    if not is_train:
        n_in = words.shape[1]
        result: Any = xp.empty((len(words), n_in + 2 * width), dtype="float32")
        result[:, :n_in] = words
        for sequences, part in windows(lengths):
            gates: Any = matmul(words[part], W.T)
            gates += model.get_param("b")
            gates = to_numpy(gates).reshape(-1, 2, 4 * width)
            hidden, _ = run_forward(gates, U, lengths[sequences])
            result[part, n_in:] = xp.asarray(hidden.reshape(-1, 2 * width))
        return result, not_trained
    gates = numpy.ascontiguousarray(to_numpy(matmul(words, W.T) + model.get_param("b")))
    gates = gates.reshape(-1, 2, 4 * width)
    hidden, cells = run_forward(gates, U, lengths)
    outputs: Any = xp.asarray(hidden.reshape(-1, 2 * width))
    mask: Any = None
    if is_train and model.attrs["dropout_rate"]:
        mask = model.ops.get_dropout_mask(outputs.shape, model.attrs["dropout_rate"])
        outputs = outputs * mask

    def backprop(d: Any) -> Any:
        n_in = words.shape[1]
        d_outputs = d[:, n_in:] if mask is None else d[:, n_in:] * mask
        d_hidden = numpy.ascontiguousarray(to_numpy(d_outputs).reshape(-1, 2, width))
        U_back = numpy.ascontiguousarray(U.transpose(0, 2, 1))
        d_gates = run_backward(d_hidden, gates, cells, U_back, lengths)
        before = numpy.zeros_like(hidden)
        before[1:, 0] = hidden[:-1, 0]
        before[:-1, 1] = hidden[1:, 1]
        ends = numpy.cumsum(lengths)
        before[(ends - lengths)[lengths > 0], 0] = 0
        before[(ends - 1)[lengths > 0], 1] = 0
        d_U = numpy.stack([matmul(before[:, side].T, d_gates[:, side]) for side in (0, 1)])
        flat: Any = xp.asarray(d_gates.reshape(len(words), 8 * width))
        model.inc_grad("U", xp.asarray(d_U))
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
    raise RuntimeError("BiLSTM: only what was run with is_train can be back-propagated.")
