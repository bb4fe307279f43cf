"""Matrix products in which a row does not depend on the rows beside it."""
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport uint32_t


cdef enum:
    BLOCK = 96              # rows of a product: whole tiles of any height


cdef struct WeightsC:
    ptrdiff_t n_in, n_out
    const float* panels     # as tiles read them; NULL: rounded
    const uint32_t* pairs   # rounded to bfloat16; NULL: not rounded
    const float* plain      # (n_out, n_in), where OpenBLAS multiplies (MSVC); else NULL


cdef void multiply_row(const WeightsC* weights, const float* row, float* out) noexcept nogil
cdef void multiply_rows(
    const WeightsC* weights, const float** rows, ptrdiff_t n_rows, float* out, ptrdiff_t step
) noexcept nogil


cdef class Weights:
    cdef WeightsC c
    cdef readonly object panels  # float32
    cdef readonly object pairs   # uint32
    cdef object W                # of other products: on a GPU, of no numbers, with MSVC
