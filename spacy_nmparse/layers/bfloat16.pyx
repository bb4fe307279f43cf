"""Matrix products of numbers that are rounded to bfloat16, for parsing: nearly all trees stay the
same, and processors with instructions for such numbers are faster.
"""
import numpy

from libc.stdint cimport uint32_t

from spacy_nmparse.layers.blas cimport checked

from spacy_nmparse.layers.blas import matmul


cdef extern from "bfloat16.h" nogil:
    enum: NMP_BF_BLOCK
    bint nmp_has_bfloat16()
    ptrdiff_t nmp_bf_pairs(ptrdiff_t n_in)
    ptrdiff_t nmp_bf_packed(ptrdiff_t n_in, ptrdiff_t n_out)
    void nmp_bf_pack(
        uint32_t* packed, const float* weights, ptrdiff_t step, ptrdiff_t n_in, ptrdiff_t n_out
    )
    void nmp_bf_multiply(
        float* out, ptrdiff_t step, const float* rows, ptrdiff_t n_rows, const uint32_t* packed,
        ptrdiff_t n_in, ptrdiff_t n_out, uint32_t* room
    )
    void nmp_bf_multiply_row(
        float* out, const float* row, const uint32_t* packed, ptrdiff_t n_in, ptrdiff_t n_out
    )


#: Whether this processor multiplies such numbers, and this build of the module has the instructions
#: for it.
HAS_BFLOAT16 = bool(nmp_has_bfloat16())


cdef class Weights:
    """The weights of a layer, that vectors are multiplied by, on one thread and without the GIL.

    Args:
        W: float32 (n, k).
        rounded: whether the numbers of weights and vectors may be rounded to bfloat16, which has 8
            significant bits, where the processor is faster with them (HAS_BFLOAT16). Sums are
            float32, and those of a row do not depend on the rows beside it.

    Raises:
        ValueError: an array that is not of two dimensions or not float32.
    """
    cdef object W
    cdef readonly object packed
    """uint32, the rounded weights as the kernels read them; None: nothing is rounded."""

    def __init__(self, W, bint rounded=False):
        cdef ptrdiff_t n, k
        cdef uint32_t[::1] packed
        cdef size_t weights
        self.W = W
        self.packed = None
        if not rounded or not HAS_BFLOAT16 or not isinstance(W, numpy.ndarray) or not W.size:
            return
        checked(W[:0], W.T, None)
        W = numpy.ascontiguousarray(W)
        n, k = W.shape
        weights = W.ctypes.data
        packed = self.packed = numpy.empty(nmp_bf_packed(k, n), dtype="uint32")
        with nogil:
            nmp_bf_pack(&packed[0], <const float*>weights, k, k, n)

    def times(self, A, out=None):
        """The product ``A @ W.T``: arguments, result and errors as of ``matmul``."""
        cdef uint32_t[::1] packed, room
        cdef ptrdiff_t m, k, n, step
        cdef size_t rows, products
        if self.packed is None:
            return matmul(A, self.W.T, out)
        out = checked(A, self.W.T, out)
        if not A.size:
            return out
        A = numpy.ascontiguousarray(A)
        m, k = A.shape
        n = out.shape[1]
        step = max(out.strides[0] // 4, n)
        rows, products = A.ctypes.data, out.ctypes.data
        packed = self.packed
        room = numpy.empty(NMP_BF_BLOCK * nmp_bf_pairs(k), dtype="uint32")
        with nogil:
            if m == 1:
                nmp_bf_multiply_row(<float*>products, <const float*>rows, &packed[0], k, n)
            else:
                nmp_bf_multiply(
                    <float*>products, step, <const float*>rows, m, &packed[0], k, n, &room[0]
                )
        return out
