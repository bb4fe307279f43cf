"""The bidirectional simple recurrent unit against a naive one, and finite differences."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy
import pytest
from thinc.api import Model

from spacy_nmparse.layers.sru import BiSRU
from spacy_nmparse.layers.sru_kernels import drop, run_backward, run_forward
from tests.differences import slope
from tests.pipe.common import randomize

pytestmark = pytest.mark.usefixtures("exact_products")

LENGTHS = ([5], [1], [3, 1, 7], [0, 2, 0, 0, 1, 4, 0], [0], [], [21, 2])


def sigmoid(x: numpy.ndarray) -> numpy.ndarray:
    return 1 / (1 + numpy.exp(-x))


def naive_sru(words: numpy.ndarray, lengths: list[int], p: dict[str, Any]) -> numpy.ndarray:
    """words, then what the two directions say: (words, nI + 2 * width). p: W, v, b as float64."""
    width = p["v"].shape[1] // 2
    W = p["W"].reshape(2, 3 * width, -1)
    b = p["b"].reshape(2, 3 * width)
    v = p["v"].reshape(2, 2, width)
    out = numpy.zeros((len(words), 2, width))
    first = 0
    for n in lengths:
        for side in (0, 1):
            c = numpy.zeros(width)
            order = range(first, first + n) if side == 0 else range(first + n - 1, first - 1, -1)
            for word in order:
                g, f, o = (W[side] @ words[word] + b[side]).reshape(3, width)
                f, o = sigmoid(f + v[side, 0] * c), sigmoid(o + v[side, 1] * c)
                c = f * c + (1 - f) * g
                out[word, side] = o * numpy.tanh(c)
        first += n
    assert first == len(words)
    return numpy.hstack([words, out.reshape(len(words), 2 * width)])


def make_sru(n_in: int, width: int, scale: float = 0.6) -> Model:
    layer = BiSRU(width)
    layer.set_dim("nI", n_in)
    layer.initialize()
    randomize(layer, 1, scale)
    return layer


def params(layer: Model) -> dict[str, numpy.ndarray]:
    return {name: layer.get_param(name).astype("float64") for name in ("W", "v", "b")}


def make_input(n_in: int, lengths: list[int]) -> Any:
    words = numpy.random.RandomState(2).normal(size=(sum(lengths), n_in)).astype("float32")
    return words, numpy.asarray(lengths, dtype="int32")


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize(("n_in", "width"), [(3, 4), (6, 1), (5, 13), (1, 16)])
def test_forward(lengths: list[int], n_in: int, width: int) -> None:
    layer = make_sru(n_in, width)
    words, given = make_input(n_in, lengths)
    for scale in (1, 30):  # also where gates are shut or open
        found = layer.predict((words * numpy.float32(scale), given))
        expected = naive_sru(words.astype("float64") * scale, lengths, params(layer))
        assert found.dtype == "float32" and found.shape == (len(words), n_in + 2 * width)
        numpy.testing.assert_allclose(found, expected, atol=1e-4 if scale > 1 else 3e-6)


@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_gradients(lengths: list[int], dropout: float) -> None:
    """Exact: finite differences of the naive one, in float64."""
    n_in, width = 3, 5
    layer = make_sru(n_in, width)
    layer.attrs["dropout_rate"] = dropout
    words, given = make_input(n_in, lengths)
    outputs, backprop = layer((words, given), is_train=True)
    plain = naive_sru(words.astype("float64"), lengths, params(layer))
    mask = numpy.ones_like(plain)
    if dropout:
        kept = outputs[:, n_in:] != 0
        mask[:, n_in:] = kept / (1 - dropout)
        if kept.size > 50:
            assert 0.3 < kept.mean() < 0.9
    numpy.testing.assert_allclose(outputs, plain * mask, atol=1e-5)
    weights = numpy.random.RandomState(3).normal(size=outputs.shape)
    d_words = backprop(weights.astype("float32"))
    found = {name: layer.get_grad(name) for name in ("W", "v", "b")} | {"words": d_words}
    values = params(layer) | {"words": words.astype("float64")}

    def loss() -> float:
        return float((naive_sru(values["words"], lengths, values) * mask * weights).sum())

    for name, value in values.items():
        expected = numpy.zeros_like(value)
        for place in numpy.ndindex(value.shape):
            if name in ("W", "v") and len(words) > 20 and place[-1] > 0:
                expected[place] = found[name][place]  # one column is enough
            else:
                expected[place] = slope(value, place, loss, 1e-5)
        assert found[name].shape == value.shape
        scale = max(1.0, abs(expected).max(initial=0))
        numpy.testing.assert_allclose(found[name], expected, atol=2e-5 * scale, err_msg=name)
        if len(words) > 1 and name != "words":
            assert abs(expected).max() > 0.01


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_dropout(rate: float) -> None:
    """Units are dropped as often as they should, each by itself; others are scaled."""
    steps, width = 4000, 96
    hidden = numpy.ones((steps, 1, width), dtype="float32")
    seeds = numpy.random.default_rng(0).integers(2**32, size=steps).tolist()
    for step, seed in zip(hidden, seeds, strict=True):
        drop(step, rate, seed)
    dropped = hidden[:, 0] == 0
    assert hidden[:, 0][~dropped] == pytest.approx(1 / (1 - rate))
    error = 5 * (rate * (1 - rate) / steps) ** 0.5  # five standard deviations
    assert abs(dropped.mean() - rate) < error / width**0.5
    assert numpy.abs(dropped.mean(axis=0) - rate).max() < error
    for distance in (1, 2, 16, 64):
        both = (dropped[:, distance:] & dropped[:, :-distance]).mean(axis=0)
        assert numpy.abs(both - rate**2).max() < 5 * (rate**2 * (1 - rate**2) / steps) ** 0.5


def test_approximation_of_tanh() -> None:
    """Through one step: forget gate shut, output gate wide open."""
    x = numpy.concatenate([numpy.linspace(-12, 12, 200_001), [-1e30, 1e30, 0.0, 1e-6, -1e-20]])
    x = x.astype("float32")
    gates = numpy.zeros((len(x), 2, 3), dtype="float32")
    gates[:, :, 0], gates[:, :, 1], gates[:, :, 2] = x[:, None], -1e3, 1e3
    v = numpy.zeros((2, 2), dtype="float32")
    hidden = numpy.empty((len(x), 2), dtype="float32")
    cells = numpy.empty((len(x), 2, 1), dtype="float32")
    zeros = numpy.zeros(6, dtype="float32")
    run_forward(gates, zeros, v, numpy.ones(len(x), dtype="int32"), hidden, cells)
    expected = numpy.tanh(x.astype("float64"))
    for side in (0, 1):
        numpy.testing.assert_allclose(cells[:, side, 0], x, rtol=1e-6)
        assert abs(hidden[:, side] - expected).max() < 2e-6
    assert hidden[-3, 0] == 0


def test_initial_weights() -> None:
    """And widths, large and wrong ones."""
    layer = BiSRU(40)
    layer.set_dim("nI", 3)
    layer.initialize()
    assert not layer.get_param("b").any()
    for name in ("W", "v"):
        assert layer.get_param(name).std() > 0.05
    for width in (0, -1):
        with pytest.raises(ValueError, match=f"width {width} must"):
            BiSRU(width)
    found = make_sru(2, 512, scale=0.05).predict(make_input(2, [3]))
    assert numpy.isfinite(found).all() and abs(found[:, 2:]).max() <= 1


def test_arrays_that_do_not_fit() -> None:
    """Once written and read beyond their ends."""
    zeros = partial(numpy.zeros, dtype="float32")
    shared = {"loops": zeros((2, 4)), "lengths": numpy.asarray([3], "int32")}
    cells = zeros((3, 2, 2))
    forward = {"gates": zeros((3, 2, 6)), "biases": zeros(12), "hidden": zeros((3, 4)), **shared}
    backward = {"d_hidden": cells, "gates": zeros((3, 2, 6)), **shared}
    for run, arrays in ((run_forward, forward), (run_backward, backward)):
        arrays["cells"] = cells
        run(**arrays)
        for name, array in arrays.items():
            wrong = [array[:-1], numpy.concatenate([array, array])]
            wrong += [numpy.asarray([4, -1], "int32")] if name == "lengths" else []
            wrong += [array[..., :-1].copy()] if array.ndim > 1 else []
            for other in wrong:
                with pytest.raises(ValueError, match=r"shapes of the arrays|words"):
                    run(**{**arrays, name: other})
    for rate in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match=f"0 to 1, not {rate}"):
            drop(zeros((2, 2)), rate, 1)
