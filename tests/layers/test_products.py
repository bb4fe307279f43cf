"""Products of weights: of exact numbers, and of those rounded to integers of 16 bits."""

from __future__ import annotations

import weakref
from typing import Any

import numpy
import pytest

from spacy_nmparse.layers import products
from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.layers.cpu import CLASS, CLASSES
from spacy_nmparse.layers.products import HAS_FIXED, HAS_TILES, Rows, Weights, packed
from tests.commands import python


def sample(*shape: int) -> numpy.ndarray:
    return numpy.random.RandomState(len(shape) + sum(shape)).normal(size=shape).astype("float32")


#: Arrays of one shape, laid out in different ways.
LAYOUTS = {
    "rows": lambda m, n: sample(m, n),
    "transposed": lambda m, n: sample(n, m).T,
    "slice of columns": lambda m, n: sample(m, n + 5)[:, 2 : n + 2],
    "slice of transposed": lambda m, n: sample(n, m + 5)[:, 1 : m + 1].T,
    "one of two sides": lambda m, n: sample(m, 2, n)[:, 1],
    "every second column": lambda m, n: sample(m, 2 * n)[:, ::2],
    "backwards": lambda m, n: sample(m, n)[::-1],
    "one row, repeated": lambda m, n: numpy.broadcast_to(sample(n), (m, n)),
}

#: Rows, inputs, outputs: parts of tiles, blocks and vectors, and more than one of each.
SIZES = [
    *((1, 1, 1), (6, 2, 16), (7, 3, 17), (13, 16, 64), (97, 33, 65), (200, 47, 130)),
    (3, 100, 48),
]

needs_fixed = pytest.mark.skipif(not HAS_FIXED, reason="the processor rounds nothing")


def check_product(found: numpy.ndarray, A: numpy.ndarray, W: numpy.ndarray) -> None:
    """Numbers are right to half a unit; a row, or an output's weights, has 32,700 or more."""
    A, W = A.astype("float64"), W.astype("float64")
    exact = A @ W.T
    room = numpy.outer(numpy.linalg.norm(A, axis=1), numpy.linalg.norm(W, axis=1))
    errors = abs(found - exact)
    assert (errors <= room * (1 / 32700 * A.shape[1] ** 0.5 + 1e-6)).all()
    assert A.shape[1] == 1 or errors.any()


#: Ways to multiply rows by the transposed weights.
PRODUCTS: dict[str, Any] = {
    "blas": lambda W, A, *out: matmul(A, W.T, *out),
    "exact": lambda W, A, *out: Weights(W, exact=True).times(A, *out),
    "rounded": lambda W, A, *out: Weights(W).times(A, *out),
}


@pytest.mark.parametrize("rows", LAYOUTS)
@pytest.mark.parametrize("columns", LAYOUTS)
@pytest.mark.parametrize("way", PRODUCTS)
def test_product(way: str, rows: str, columns: str) -> None:
    for m, k, n in SIZES:
        A, W = LAYOUTS[rows](m, k), LAYOUTS[columns](n, k)
        found = PRODUCTS[way](W, A)
        assert found.dtype == "float32" and found.flags.c_contiguous
        if way != "rounded" or not HAS_FIXED:
            expected = A.astype("float64") @ W.T.astype("float64")
            numpy.testing.assert_allclose(found, expected, atol=1e-4)
        else:
            check_product(found, A, W)


@needs_fixed
@pytest.mark.parametrize("k", [1, 2, 63, 4096])
def test_largest_sums(k: int) -> None:
    """No sum leaves 32 bits: of rows along their weights, of one large number, of any size."""
    one = numpy.eye(1, k, k // 2)
    rows = [numpy.ones((1, k)), one, one + 1e-3, (-1.0) ** numpy.arange(k)[None], sample(1, k)]
    W = numpy.concatenate([row * scale for row in rows for scale in (1, -1e-12, 1e12)])
    W = W.astype("float32")
    found = Weights(W).times(W)
    exact = W.astype("float64") @ W.T.astype("float64")
    lengths = numpy.linalg.norm(W.astype("float64"), axis=1)
    assert (abs(found - exact) <= numpy.outer(lengths, lengths) * (k**0.5 / 32700 + 1e-6)).all()


@needs_fixed
def test_what_has_no_scale() -> None:
    """Zeros stay zeros, and what is not a number is not lost."""
    A, W = sample(4, 6), sample(3, 6)
    A[1], W[2] = 0, 0
    A[2, 3], A[3, 0], W[1, 5] = numpy.nan, numpy.inf, numpy.nan
    found = Weights(W).times(A)
    assert not found[1, [0, 2]].any() and not found[:2, 2].any()
    assert numpy.isfinite(found[:2, [0, 2]]).all()
    assert not numpy.isfinite(found[2:, :2]).any() and not numpy.isfinite(found[:, 1]).any()


@needs_fixed
def test_longer_rows_are_not_rounded() -> None:
    assert Weights(sample(2, 4096)).pairs is not None
    W, A = sample(2, 4097), sample(3, 4097)
    weights = Weights(W)
    assert weights.pairs is None
    assert (weights.times(A) == Weights(W, exact=True).times(A)).all()


@pytest.mark.skipif(not HAS_TILES, reason="OpenBLAS multiplies")
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), SIZES)
def test_rows_do_not_depend_on_each_other(m: int, k: int, n: int, exact: bool) -> None:
    """To the bit: trees are the same whatever the batch."""
    A, weights = sample(m, k), Weights(sample(n, k), exact=exact)
    whole = weights.times(A)
    for i in range(m):
        assert (weights.times(A[i : i + 1]) == whole[i]).all()
    assert (weights.times(A[::-1]) == whole[::-1]).all()


@pytest.mark.parametrize("way", PRODUCTS)
@pytest.mark.parametrize(("m", "k", "n"), SIZES)
def test_writes_into_a_part_of_an_array(m: int, k: int, n: int, way: str) -> None:
    room = numpy.full((m + 3, n + 4), 7, dtype="float32")
    A, W = sample(m, k), sample(n, k)
    part = room[1 : m + 1, 2 : n + 2]
    assert PRODUCTS[way](W, A, part) is part
    assert part == pytest.approx(PRODUCTS[way](W, A), abs=1e-5 if way == "blas" else 0)
    part[:] = 7
    assert (room == 7).all()


@pytest.mark.parametrize("exact", [False, True])
def test_not_rounded(exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where that is not wanted, or the processor cannot do it."""
    monkeypatch.setattr(products, "HAS_FIXED", exact)
    A, W = sample(30, 40), sample(20, 40)
    expected = A.astype("float64") @ W.T.astype("float64")
    assert abs(Weights(W, exact=exact).times(A) - expected).max() < 1e-5


@pytest.mark.parametrize("way", PRODUCTS)
@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 2), (4, 0, 2), (4, 3, 0), (0, 0, 0)])
def test_empty_arrays(m: int, k: int, n: int, way: str) -> None:
    found = PRODUCTS[way](sample(n, k), sample(m, k))
    assert found.shape == (m, n) and not found.any()


@pytest.mark.parametrize("exact", [False, True])
def test_shapes_that_do_not_go_together(exact: bool) -> None:
    with pytest.raises(ValueError, match="cannot be multiplied"):
        Weights(sample(3, 4), exact=exact).times(sample(2, 5))
    with pytest.raises(ValueError, match="float64 array"):
        Weights(sample(3, 4).astype("float64"), exact=exact).times(sample(2, 4))
    with pytest.raises(ValueError, match="does not fit into out"):
        Weights(sample(3, 4), exact=exact).times(sample(2, 4), sample(2, 4))


@pytest.mark.parametrize("exact", [False, True])
def test_packed_once(exact: bool) -> None:
    """Until a number of the array changes, or the array is another one, or gone."""
    W, A = sample(20, 30), sample(4, 30)
    weights = packed(W, exact=exact)
    assert packed(W, exact=exact) is weights
    assert packed(W, exact=not exact) is not weights
    for place in [(0, 0), (19, 29), (7, 11)]:
        W[place] += 1
        changed = packed(W, exact=exact)
        assert changed is not weights
        assert (changed.times(A) == Weights(W, exact=exact).times(A)).all()
        weights = changed
    W *= -1
    assert packed(W, exact=exact) is not weights
    assert packed(W.copy(), exact=exact) is not packed(W, exact=exact)
    W = sample(3, 4)
    panels = weakref.ref(packed(W).panels)
    assert panels() is not None
    del W
    assert panels() is None


@pytest.mark.parametrize(("exact", "error"), [(True, 1e-5), (False, 1e-3)])
def test_packed_pieces(exact: bool, error: float) -> None:
    """The first pieces of all units, then the second ones; and parts."""
    W, A = sample(7, 3, 5), sample(2, 5)
    found = packed(W, pieces=3, exact=exact).times(A)
    expected = numpy.einsum("ri,wpi->rpw", A, W).reshape(2, 21)
    numpy.testing.assert_allclose(found, expected, atol=error)
    parts = packed(W, parts=((0, 5), (5, 21)), exact=True)
    whole = numpy.hstack([weights.times(A) for weights in parts])
    numpy.testing.assert_allclose(whole, A @ W.reshape(21, 5).T, atol=1e-5)
    assert packed(W, parts=((0, 5), (5, 21)), exact=True) is parts


def test_pieces_and_rows_that_do_not_fit() -> None:
    for pieces in (0, -1, 2, 4):
        with pytest.raises(ValueError, match=f"units of {pieces} pieces"):
            Weights(sample(3, 4), pieces)
    A, weights = sample(5, 4), Weights(sample(3, 4))
    check_product(weights.times(A[1:3], None, Rows(A, weights), 1), A[1:3], sample(3, 4))
    for rows, first in ((A, 4), (A, -1), (sample(5, 3), 0)):
        with pytest.raises(ValueError, match=rf"do not have \(2, 4\) from row {first} on"):
            weights.times(A[:2], None, Rows(rows, Weights(sample(2, rows.shape[1]))), first)
    with pytest.raises(TypeError, match="NumPy's arrays, not NoneType"):
        weights.times(None)


@pytest.mark.parametrize("cpu", [cpu for cpu in CLASSES if cpu != CLASS])
def test_other_processors(cpu: str) -> None:
    """All of this, as far as it can be tried here."""
    done = python("-m", "pytest", "-q", __file__, "-k", "not processors", NMPARSE_CPU=cpu)
    assert done.returncode == 0, done.stdout
