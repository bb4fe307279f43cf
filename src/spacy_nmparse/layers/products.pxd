"""Matrix products in which a row does not depend on the rows beside it."""
from libc.stddef cimport ptrdiff_t


cdef class Weights:
    cdef readonly object panels  # float32, as tiles read them; None: rounded, or on a GPU
    cdef readonly object pairs   # uint32, the rounded weights; None: not rounded
    cdef object W                # of other products: on a GPU, of no numbers, with MSVC
    cdef ptrdiff_t n, k

    cdef _multiply(
        self, float* products, ptrdiff_t step, const float* A, ptrdiff_t stride, ptrdiff_t m
    )
