"""The ops of the switch ``fast_blas`` against Thinc's own."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy
import pytest
from thinc.api import LayerNorm, Model, NumpyOps

from spacy_nmparse.layers.ops import FastOps, norm_forward
from spacy_nmparse.layers.ops_kernels import norm, norm_back
from tests.pipe.common import randomize


def sample(*shape: int, seed: int = 1) -> numpy.ndarray:
    return numpy.random.RandomState(seed).normal(size=shape).astype("float32")


@pytest.mark.parametrize("pieces", [1, 2, 3, 4, 7])
@pytest.mark.parametrize(("rows", "width"), [(0, 3), (1, 1), (5, 33), (40, 96)])
def test_maxout(rows: int, width: int, pieces: int) -> None:
    X = sample(rows, width, pieces).round(1)
    if (rows, pieces) == (40, 3):  # some pieces are equal
        top = numpy.sort(X, axis=2)
        assert (top[..., 1] == top[..., 2]).sum() > 10
    best, which = FastOps().maxout(X)
    expected_best, expected_which = NumpyOps().maxout(X)
    assert best.dtype == "float32" and which.dtype == "int32"
    numpy.testing.assert_array_equal(best, expected_best)
    numpy.testing.assert_array_equal(which, expected_which)


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
@pytest.mark.parametrize(("rows", "width", "keys"), [(0, 4, 4), (7, 1, 4), (9, 33, 1), (50, 96, 4)])
def test_gather_add(rows: int, width: int, keys: int, dtype: str) -> None:
    """In the table; other formats are left to Thinc, by copies, too."""
    table = sample(11, width)
    indices = numpy.random.RandomState(2).randint(0, 11, size=(rows, keys)).astype(dtype)
    found = FastOps().gather_add(table, indices)
    numpy.testing.assert_allclose(found, table[indices].sum(axis=1), atol=1e-5)
    for key in (-1, 11):
        wrong = numpy.asarray([[0, 1], [2, key]], dtype="int32")
        with pytest.raises(IndexError, match=f"Row {key} of a table of 11 rows"):
            FastOps().gather_add(table, wrong)
    ops = FastOps()
    for other in (ops, pickle.loads(pickle.dumps(ops)), copy.deepcopy(ops)):
        assert type(other) is FastOps
        best, _ = other.maxout(sample(4, 5, 3).astype("float64"))
        sums = other.gather_add(table.astype("float64"), numpy.zeros((2, 3), dtype="int32"))
        assert best.dtype == sums.dtype == "float64"


@pytest.mark.parametrize("trans1", [False, True])
@pytest.mark.parametrize("trans2", [False, True])
def test_gemm(trans1: bool, trans2: bool) -> None:
    x, y = sample(5, 7), sample(7, 3, seed=2)
    given = (x.T.copy() if trans1 else x, y.T.copy() if trans2 else y)
    for out in (None, numpy.empty((5, 3), dtype="float32")):
        found = FastOps().gemm(*given, trans1=trans1, trans2=trans2, out=out)
        numpy.testing.assert_allclose(found, x @ y, atol=1e-5)


@pytest.mark.parametrize(("rows", "width"), [(0, 8), (1, 1), (3, 5), (20, 96), (6, 130)])
def test_layer_normalization(rows: int, width: int) -> None:
    norm: Model[Any, Any] = LayerNorm(width)
    norm.initialize()
    randomize(norm, 3)
    fast = norm.copy()
    fast._func = norm_forward
    X, dY = 5 * sample(rows, width) + 2, sample(rows, width, seed=2)
    found, found_back = fast.begin_update(X)
    expected, expected_back = norm.begin_update(X)
    numpy.testing.assert_allclose(found, expected, atol=1e-4)
    numpy.testing.assert_allclose(found_back(dY), expected_back(dY), atol=1e-4)
    for name in ("G", "b"):
        numpy.testing.assert_allclose(fast.get_grad(name), norm.get_grad(name), atol=1e-3)


def test_norms_that_do_not_fit() -> None:
    X, gain, shrink = sample(3, 4), numpy.ones(4, "float32"), sample(3, 2)
    for short in ((gain[:3], gain), (gain, gain[:3])):
        with pytest.raises(ValueError, match="of inputs of 4"):
            norm(X, *short)
    for arguments in (
        (X[:2], X, shrink, gain),
        (X, X, shrink[:2], gain),
        (X, X, sample(3, 1), gain),
        (X, X, shrink, gain[:3]),
        (sample(3, 3), X, shrink, gain),
    ):
        with pytest.raises(ValueError, match=r"of inputs \(3, 4\)"):
            norm_back(*arguments)
