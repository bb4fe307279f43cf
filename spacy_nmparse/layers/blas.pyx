"""Matrix products on one thread, without the GIL, by an OpenBLAS of our own.

NumPy's products use as many threads as the machine has cores. On a busy machine these threads wait
for one another, and a parser takes several times as long; with ``n_process`` the workers take one
another's cores. The package ``scipy-openblas32`` brings an OpenBLAS that NumPy does not use: its
number of threads is 1, and NumPy's stays what it is.
"""
import ctypes
import os
from importlib.util import find_spec
from pathlib import Path

import numpy

#: OpenBLAS' names for the classes that NMPARSE_CPU can name (see layers.cpu).
_CORES = {"plain": "Nehalem", "avx2": "Haswell", "avx512": "SkylakeX"}


def _load():
    """Load the library for this module alone: if its package were imported, other libraries, such
    as SciPy's, would find its functions, too. The variable for threads keeps it from starting
    threads, which would spin for a moment."""
    package = find_spec("scipy_openblas32")
    if package is None:
        raise ImportError(
            "spacy-nmparse computes its matrix products with the package scipy-openblas32, which "
            "is not installed: python -m pip install scipy-openblas32"
        )
    folder = Path(package.origin).parent / "lib"
    paths = [path for path in folder.glob("*openblas*") if path.suffix in (".so", ".dylib", ".dll")]
    if not paths:
        raise ImportError(
            f"The package scipy-openblas32 has no library in {folder}: "
            f"python -m pip install --force-reinstall scipy-openblas32"
        )
    variables = {"OPENBLAS_NUM_THREADS": "1"}
    core = _CORES.get(os.environ.get("NMPARSE_CPU"))
    if core is not None and "OPENBLAS_CORETYPE" not in os.environ:
        variables["OPENBLAS_CORETYPE"] = core
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        library = ctypes.CDLL(str(paths[0]))
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    library.scipy_openblas_set_num_threads(1)  # where it has not read the variable
    return library


_library = _load()  # kept: the pointer below goes into it
sgemm = <sgemm_t><size_t>ctypes.cast(
    _library.scipy_cblas_sgemm, ctypes.c_void_p
).value


def matmul(A, B, out=None):
    """The product ``A @ B``, on one thread and without the GIL.

    Transposed arrays and slices of larger ones are read where they are.

    Args:
        A: float32 (m, k).
        B: float32 (k, n).
        out: float32 (m, n) to write to, its rows contiguous, apart from A and B; None: a new array.

    Returns:
        float32 (m, n): out, or a new array. Where A is on a GPU, ``A @ B`` there.

    Raises:
        ValueError: shapes that do not fit, or arrays that are not of two dimensions or float32.
    """
    cdef int m, n, k, transposed_a, transposed_b, lda, ldb, ldc
    cdef size_t a, b, c
    if not isinstance(A, numpy.ndarray):
        return A @ B
    if not isinstance(B, numpy.ndarray):
        raise TypeError(f"matmul takes NumPy's arrays, not {type(B).__name__}.")
    out = checked(A, B.shape, B.dtype, out)
    if not A.size or not B.size:
        out[:] = 0
        return out
    A, transposed_a, lda = _layout(A)
    B, transposed_b, ldb = _layout(B)
    m, k = A.shape
    n = B.shape[1]
    ldc = max(out.strides[0] // 4, n)
    a, b, c = A.ctypes.data, B.ctypes.data, out.ctypes.data
    with nogil:
        sgemm(
            ROW_MAJOR, transposed_a, transposed_b, m, n, k, 1.0, <const float*>a, lda,
            <const float*>b, ldb, 0.0, <float*>c, ldc
        )
    return out


cdef checked(A, tuple shape_of_B, dtype_of_B, out):
    """The array for a product, out or a new one. Raises ValueError where shapes do not fit,
    TypeError where A or out is no array of NumPy's."""
    for array in (A,) if out is None else (A, out):
        if not isinstance(array, numpy.ndarray):
            raise TypeError(f"matmul takes NumPy's arrays, not {type(array).__name__}.")
    if not (
        A.ndim == len(shape_of_B) == 2 and A.shape[1] == shape_of_B[0]
        and A.dtype == dtype_of_B == "float32"
    ):
        raise ValueError(
            f"matmul: a {A.dtype} array {A.shape} cannot be multiplied by a {dtype_of_B} array "
            f"{shape_of_B}: it takes float32 arrays (m, k) and (k, n)."
        )
    shape = (A.shape[0], shape_of_B[1])
    if out is None:
        return numpy.empty(shape, dtype="float32")
    if (
        out.shape != shape or out.dtype != "float32" or not out.flags.writeable
        or (out.size and (out.strides[1] != 4 or out.strides[0] < 4 * shape[1]))
    ):
        raise ValueError(
            f"matmul: the product {shape} does not fit into out, {out.shape}: it takes float32 of "
            f"that shape, with contiguous rows and not read-only."
        )
    return out


cdef tuple _layout(array):
    """The array, or a copy that a product can read; how it lies; and the step between its rows, or
    columns where it is transposed."""
    rows, columns = array.strides
    n_rows, n_columns = array.shape
    if (columns == 4 or n_columns == 1) and rows % 4 == 0 and rows >= 4 * n_columns:
        return array, AS_GIVEN, rows // 4
    if (rows == 4 or n_rows == 1) and columns % 4 == 0 and columns >= 4 * n_rows:
        return array, TRANSPOSED, columns // 4
    return numpy.ascontiguousarray(array), AS_GIVEN, n_columns
