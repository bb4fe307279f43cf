"""The loss of tags: its gradient, against differences of a loss that is written plainly."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import numpy
import pytest
from thinc.api import Model, NumpyOps

from spacy_nmparse.scorers import tagging
from spacy_nmparse.scorers.readings import Readings
from spacy_nmparse.scorers.tag_gradient import tag_gradient
from spacy_nmparse.scorers.tagging import (
    BLOCK,
    READING_WEIGHT,
    Tagging,
    learn_readings,
    learn_values,
)
from spacy_nmparse.scorers.tags import UNKNOWN, GoldTags, set_sizes
from tests.differences import slope

SIZES = [3, 2, 4]
TAGS = numpy.asarray([[0, 1, 3], [2, UNKNOWN, 0], [UNKNOWN] * 3, [1, 0, UNKNOWN]], dtype="int32")

#: Readings of these values, and which the words have.
TABLE = numpy.asarray(
    [[1, 0, 0, 0, 1, 0, 0, 0, 1], [0, 1, 0, 0, 1, 0, 1, 0, 0], [0, 1, 0, 1, 0, 0, 0, 0, 0]],
    dtype="float32",
)
GOLD = GoldTags(TAGS, numpy.asarray([0, UNKNOWN, 2, 1], dtype="int32"), TABLE)


def naive_loss(scores: numpy.ndarray) -> float:
    loss = 0.0
    for row, tags in zip(scores.tolist(), TAGS.tolist(), strict=True):
        first = 0
        for tag, size in zip(tags, SIZES, strict=True):
            part = row[first : first + size]
            first += size
            if tag != UNKNOWN:
                loss += math.log(sum(map(math.exp, part))) - part[tag]
    return loss


def random_scores() -> numpy.ndarray:
    return (numpy.random.RandomState(0).randn(4, sum(SIZES)) * 3).astype("float32")


@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_gradient_is_that_of_the_loss(weight: float) -> None:
    """Nothing is learned from unknown tags, large scores are none too many, others do not fit."""
    found = random_scores()
    scores = found.astype("float64")
    tag_gradient(found, TAGS, SIZES, weight)
    for place in numpy.ndindex(scores.shape):
        expected = weight * slope(scores, place, lambda: naive_loss(scores), 1e-5)
        assert found[place] == pytest.approx(expected, abs=1e-6)
    assert not found[2].any() and not found[1, 3:5].any() and found[1, :3].any()
    large = numpy.full((4, sum(SIZES)), 1e4, dtype="float32")
    large[:, 0] = -1e4
    tag_gradient(large, TAGS, SIZES, weight)
    assert numpy.isfinite(large).all()
    for tags, sizes in ((TAGS[:3], SIZES), *((TAGS, x) for x in (SIZES[:2], [3, 2, 3], [3, 3, 3]))):
        with pytest.raises(ValueError, match="do not fit the scores"):
            tag_gradient(random_scores(), tags, sizes, weight)


def naive_reading_loss(scores: numpy.ndarray) -> float:
    loss = 0.0
    for row, gold in zip((scores @ TABLE.T).tolist(), GOLD.readings.tolist(), strict=True):
        if gold != UNKNOWN:
            loss += math.log(sum(map(math.exp, row))) - row[gold]
    return READING_WEIGHT * loss


def made(W: numpy.ndarray, b: numpy.ndarray) -> Model:
    layer = Tagging()
    set_sizes(layer, SIZES)
    layer.set_dim("nI", W.shape[1])
    layer.initialize()
    layer.set_param("W", NumpyOps().asarray(W))
    layer.set_param("b", NumpyOps().asarray(b))
    return layer


def random_arrays() -> dict[str, numpy.ndarray]:
    random = numpy.random.RandomState(1)
    shapes = {"W": (sum(SIZES), 5), "b": (sum(SIZES),), "vectors": (4, 5)}
    return {name: random.randn(*shape).astype("float32") for name, shape in shapes.items()}


@pytest.mark.parametrize(
    ("learn", "naive"), [(learn_values, naive_loss), (learn_readings, naive_reading_loss)]
)
def test_gradients_of_the_layers(learn: Any, naive: Any) -> None:
    arrays = random_arrays()
    layer = made(arrays["W"], arrays["b"])

    d_vectors = learn(layer, arrays["vectors"], GOLD, 0.7)
    gradients = {"W": layer.get_grad("W"), "b": layer.get_grad("b"), "vectors": d_vectors}
    plain = {name: array.astype("float64") for name, array in arrays.items()}

    def loss() -> float:
        return 0.7 * naive(plain["vectors"] @ plain["W"].T + plain["b"])

    for name, gradient in gradients.items():
        for place in numpy.ndindex(gradient.shape):
            expected = slope(plain[name], place, loss, 1e-4)
            assert gradient[place] == pytest.approx(expected, abs=2e-4), (name, place)


def test_blocks_of_words_learn_what_all_at_once_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing from unknown readings."""
    arrays = random_arrays()
    W, b, vectors = arrays.values()
    found = []
    for block in (3, BLOCK):
        monkeypatch.setattr(tagging, "BLOCK", block)
        layer = made(W, b)
        d_vectors = learn_readings(layer, vectors, GOLD, 1.0)
        assert [bool(row.any()) for row in d_vectors] == [True, False, True, True]
        found.append((d_vectors, layer.get_grad("W")))
    for one, other in zip(*found, strict=True):
        assert one == pytest.approx(other, abs=1e-6)
    nothing = replace(GOLD, readings=numpy.full(4, UNKNOWN, dtype="int32"))
    layer = made(W, b)
    assert not learn_readings(layer, vectors, nothing, 1.0).any()
    assert not layer.get_grad("W").any()


def test_new_sizes_ask_for_new_parameters() -> None:
    layer = Tagging()
    layer.set_dim("nI", 5)
    for sizes in (SIZES, [2, 2]):
        set_sizes(layer, sizes)
        assert not layer.has_param("W")
        layer.initialize()
        assert layer.get_param("W").shape == (sum(sizes), 5)
    set_sizes(layer, [])
    layer.initialize()
    assert not layer.has_param("W")


@pytest.mark.parametrize("n", [0, 1, 31, 32, 67])
def test_the_best_reading_has_the_largest_sum_of_values(n: int) -> None:
    """Of equal ones the first; also with a reading without values, equal readings, a pickled copy
    and scores of other strides."""
    random = numpy.random.RandomState(n)
    for n_values in (1, 4, 9):
        table = (random.rand(7, n_values) < 0.4).astype("float32")
        readings = pickle.loads(pickle.dumps(Readings(table)))
        for scores in (random.randint(-2, 3, (n, n_values)), random.randn(n_values, n).T):
            scores = scores.astype("float32")
            sums = scores.astype("float64") @ table.T
            best = readings.best(scores)
            assert best.dtype == "int32"
            assert best.tolist() == sums.argmax(axis=1).tolist()
    assert Readings(TABLE[:0]).best(numpy.ones((2, 9), "float32")).tolist() == [0, 0]
    with pytest.raises(ValueError, match="Readings of 9 values, but scores of 8"):
        Readings(TABLE).best(numpy.ones((2, 8), "float32"))
