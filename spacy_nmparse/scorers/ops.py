"""Thinc ops with NumPy's matrix products, and two of Thinc's layers in one pass.

Thinc computes matrix products with BLIS, compiled for each family of processors as well as its
authors could; NumPy's wheels bring OpenBLAS, which is faster on many of them. The formulas are
Thinc's: results differ in the last bits.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from typing import Any

import numpy
from thinc.api import Model, NumpyOps

from spacy_nmparse.scorers import ops_kernels

#: Functions that set the number of threads: of OpenBLAS, as NumPy's wheels and others name it, and
#: of MKL.
THREAD_SETTERS = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
    "MKL_Set_Num_Threads",
)


class FastOps(NumpyOps):
    """Thinc's NumpyOps with products by NumPy; other formats than float32 are left to Thinc.

    Copies in other processes, by fork or by pickle, are the same, their threads limited too.
    """

    def __init__(self, device_type: Any = "cpu", device_id: int = -1, *, threads: int = 1) -> None:
        """Make the ops, and limit the threads of this process.

        Args:
            device_type, device_id: as Thinc's.
            threads: threads of NumPy's matrix products; 0: as many as there are now.

        Raises:
            ValueError: threads is below 0.
        """
        if threads < 0:
            raise ValueError(f"fast_blas: threads {threads} must be at least 0.")
        super().__init__(device_type, device_id, use_blis=False)
        self.threads = threads
        limit_threads(threads)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        limit_threads(self.threads)

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


def limit_threads(threads: int) -> None:
    """Set how many threads NumPy's matrix products take in this process; 0: leave that."""
    if not threads:
        return
    core: Any = numpy
    library = ctypes.CDLL(core._core._multiarray_umath.__file__)
    for name in THREAD_SETTERS:
        setter = getattr(library, name, None)
        if setter is not None:
            setter(ctypes.c_int(threads))
            return
    warnings.warn(
        f"fast_blas: this NumPy's library of matrix products has no function to limit it to "
        f"{threads} threads. Set the library's own variable before Python starts, as "
        f"OMP_NUM_THREADS or VECLIB_MAXIMUM_THREADS, and threads = 0 in the config.",
        stacklevel=2,
    )
