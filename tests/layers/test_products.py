"""Products of weights: of exact numbers, and of those rounded to bfloat16."""

from __future__ import annotations

import weakref

import numpy
import pytest

from spacy_nmparse.layers import products
from spacy_nmparse.layers.products import HAS_BFLOAT16, HAS_TILES, Weights, packed
from tests.layers.test_blas import LAYOUTS, sample

#: Rows, inputs, outputs: parts of tiles, blocks and vectors, and more than one of each.
SIZES = [
    (1, 1, 1),
    (6, 2, 16),
    (7, 3, 17),
    (13, 16, 64),
    (97, 33, 65),
    (200, 47, 130),
    (3, 100, 48),
]

needs_bfloat16 = pytest.mark.skipif(not HAS_BFLOAT16, reason="the processor has no bfloat16")


def to_bfloat16(array: numpy.ndarray) -> numpy.ndarray:
    """The numbers of an array rounded to the nearest of 8 significant bits, of two the even one."""
    fractions, exponents = numpy.frexp(array.astype("float64"))
    return numpy.ldexp(numpy.round(fractions * 2**8) / 2**8, exponents)


@needs_bfloat16
def test_rounding() -> None:
    """To the nearest number of 8 significant bits, of two the even one."""
    values = numpy.asarray([1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-7 + 2**-9, -(1 + 2**-9), 0])
    expected = [1, 1, 1 + 2**-6, 1 + 2**-7, -1, 0]
    same = Weights(numpy.eye(6, dtype="float32"), rounded=True)
    assert same.times(values[None].astype("float32")).tolist() == [expected]
    assert to_bfloat16(values).tolist() == expected
    whole = sample(50, 6)
    assert (same.times(whole) == to_bfloat16(whole)).all()


@pytest.mark.parametrize("rounded", [False, pytest.param(True, marks=needs_bfloat16)])
@pytest.mark.parametrize("rows", LAYOUTS)
@pytest.mark.parametrize("columns", LAYOUTS)
def test_product(rows: str, columns: str, rounded: bool) -> None:
    for m, k, n in SIZES:
        A, W = LAYOUTS[rows](m, k), LAYOUTS[columns](n, k)
        left, right = (to_bfloat16(X) if rounded else X.astype("float64") for X in (A, W))
        found = Weights(W, rounded).times(A)
        assert found.dtype == "float32"
        numpy.testing.assert_allclose(found, left @ right.T, atol=1e-4)


@pytest.mark.skipif(not HAS_TILES, reason="OpenBLAS multiplies")
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), SIZES)
def test_rows_do_not_depend_on_each_other(m: int, k: int, n: int, rounded: bool) -> None:
    """To the bit: trees are the same whatever the batch."""
    A, weights = sample(m, k), Weights(sample(n, k), rounded)
    whole = weights.times(A)
    for i in range(m):
        assert (weights.times(A[i : i + 1]) == whole[i]).all()
    assert (weights.times(A[::-1]) == whole[::-1]).all()


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), SIZES)
def test_writes_into_a_part_of_an_array(m: int, k: int, n: int, rounded: bool) -> None:
    room = numpy.full((m + 3, n + 4), 7, dtype="float32")
    A, weights = sample(m, k), Weights(sample(n, k), rounded)
    part = room[1 : m + 1, 2 : n + 2]
    assert weights.times(A, part) is part
    assert (part == weights.times(A)).all()
    part[:] = 7
    assert (room == 7).all()


@pytest.mark.parametrize("rounded", [False, True])
def test_not_rounded(rounded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where that is not wanted, or the processor cannot do it."""
    monkeypatch.setattr(products, "HAS_BFLOAT16", not rounded)
    A, W = sample(30, 40), sample(20, 40)
    exact = A.astype("float64") @ W.T.astype("float64")
    assert abs(Weights(W, rounded).times(A) - exact).max() < 1e-5


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 2), (4, 0, 2), (4, 3, 0)])
def test_empty_arrays(m: int, k: int, n: int, rounded: bool) -> None:
    found = Weights(sample(n, k), rounded).times(sample(m, k))
    assert found.shape == (m, n) and not found.any()


@pytest.mark.parametrize("rounded", [False, True])
def test_wrong_shapes(rounded: bool) -> None:
    with pytest.raises(ValueError, match="cannot be multiplied"):
        Weights(sample(3, 4), rounded).times(sample(2, 5))
    with pytest.raises(ValueError, match="float64 array"):
        Weights(sample(3, 4).astype("float64"), rounded).times(sample(2, 4))
    with pytest.raises(ValueError, match="does not fit into out"):
        Weights(sample(3, 4), rounded).times(sample(2, 4), sample(2, 4))


@pytest.mark.parametrize("rounded", [False, True])
def test_packed_once(rounded: bool) -> None:
    """Until a number of the array changes, or the array is another one."""
    W, A = sample(20, 30), sample(4, 30)
    weights = packed(W, rounded)
    assert packed(W, rounded) is weights
    assert packed(W, not rounded) is not weights
    for place in [(0, 0), (19, 29), (7, 11)]:
        W[place] += 1
        changed = packed(W, rounded)
        assert changed is not weights
        assert (changed.times(A) == Weights(W, rounded).times(A)).all()
        weights = changed
    W *= -1
    assert packed(W, rounded) is not weights
    assert packed(W.copy(), rounded) is not packed(W, rounded)


def test_packed_parts() -> None:
    W, A = sample(4, 6, 5), sample(3, 5)
    found = packed(W, parts=((0, 5), (5, 24)))
    whole = numpy.hstack([weights.times(A) for weights in found])
    numpy.testing.assert_allclose(whole, A @ W.reshape(24, 5).T, atol=1e-5)
    assert packed(W, parts=((0, 5), (5, 24))) is found


def test_packed_pieces() -> None:
    """The first pieces of all units, then the second ones."""
    W, A = sample(7, 3, 5), sample(2, 5)
    found = packed(W, pieces=3).times(A)
    expected = numpy.einsum("ri,wpi->rpw", A, W).reshape(2, 21)
    numpy.testing.assert_allclose(found, expected, atol=1e-5)


def test_packed_weights_go_with_their_array() -> None:
    W = sample(3, 4)
    weights = weakref.ref(packed(W).panels)
    assert weights() is not None
    del W
    assert weights() is None
