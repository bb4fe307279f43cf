"""Thinc ops with the products of ``layers.blas``, and two of Thinc's layers in one pass.

Thinc computes matrix products with BLIS, compiled for each family of processors as well as its
authors could; OpenBLAS is faster on many of them. The formulas are Thinc's: results differ in the
last bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from thinc.api import Model, NumpyOps

import spacy_nmparse.layers.ops_kernels as ops_kernels
from spacy_nmparse.layers.blas import matmul


class FastOps(NumpyOps):
    """Thinc's NumpyOps with products on one thread by OpenBLAS; formats other than float32 are left
    to Thinc."""

    def gemm(
        self, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False
    ) -> Any:
        """The product of two matrices, each transposed first where asked."""
        if not x.dtype == y.dtype == "float32":
            return super().gemm(x, y, out=out, trans1=trans1, trans2=trans2)
        return matmul(x.T if trans1 else x, y.T if trans2 else y, out=out)

    def maxout(self, X: Any) -> tuple[Any, Any]:
        """The largest of the pieces, and which one it is."""
        if not _is_plain(X) or not X.shape[2]:
            return super().maxout(X)
        return ops_kernels.maxout(X)

    def gather_add(self, table: Any, indices: Any) -> Any:
        """Sums of rows of a table."""
        if not _is_plain(table) or indices.dtype not in ("int32", "uint32"):
            return super().gather_add(table, indices)
        return ops_kernels.gather_add(table, numpy.ascontiguousarray(indices))


def _is_plain(array: Any) -> bool:
    return array.dtype == "float32" and array.flags.c_contiguous


def norm_forward(model: Model, X: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Thinc's ``layernorm.v1``, in one pass."""
    gain: Any = model.get_param("G")
    bias: Any = model.get_param("b")
    X = numpy.ascontiguousarray(X, dtype="float32")
    Y, shrink = ops_kernels.norm(X, gain, bias)

    def backprop(dY: Any) -> Any:
        dY = numpy.ascontiguousarray(dY, dtype="float32")
        d_gain: Any
        d_bias: Any
        dX, d_gain, d_bias = ops_kernels.norm_back(dY, X, shrink, gain)
        model.inc_grad("G", d_gain)
        model.inc_grad("b", d_bias)
        return dX

    return Y, backprop
