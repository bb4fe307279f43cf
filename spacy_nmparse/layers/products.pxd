"""Matrix products in which a row does not depend on the rows beside it."""
from libc.stddef cimport ptrdiff_t
from libc.stdint cimport int32_t


cdef enum:
    BLOCK = 96              # rows of a product: whole tiles of any height


cdef struct WeightsC:
    ptrdiff_t n_in, n_out
    const float* panels     # as tiles read them; NULL: rounded
    const int32_t* pairs    # rounded to integers of 16 bits; NULL: not rounded
    const float* scales     # (n_out,): of these integers
    const float* plain      # (n_out, n_in), where OpenBLAS multiplies (MSVC); else NULL


cdef struct RowsC:
    ptrdiff_t width
    const float* numbers    # (rows, width)
    ptrdiff_t row_pairs     # int32 numbers of a row, each of them two rounded ones
    const int32_t* pairs    # (rows, row_pairs), the numbers rounded; NULL: not rounded
    const float* scales     # (rows,): of these integers


cdef void multiply_ready(
    const WeightsC* weights, const RowsC* rows, ptrdiff_t first, ptrdiff_t n, float* out,
    ptrdiff_t step
) noexcept nogil
cdef void multiply_rows(
    const WeightsC* weights, const float** rows, ptrdiff_t n_rows, float* out, ptrdiff_t step
) noexcept nogil


cdef class Weights:
    cdef WeightsC c
    cdef readonly object panels  # float32; of rounded weights: the scales
    cdef readonly object pairs   # int32
    cdef object W                # of other products: on a GPU, of no numbers, with MSVC


cdef class Rows:
    cdef RowsC c
    cdef readonly object numbers, pairs, scales
