# cython: boundscheck=False, wraparound=False
"""A number for the content of arrays, to see whether they have changed."""
import numpy

from libc.stddef cimport ptrdiff_t
from libc.stdint cimport uint32_t, uint64_t


cdef extern from "digest.h" nogil:
    uint64_t nmp_digest(const uint32_t* words, ptrdiff_t n)


def digest(arrays):
    """Number the content of arrays.

    Args:
        arrays: float32, of any shape.

    Returns:
        int: arrays that differ in a single number never have the same; arrays that differ otherwise
        (in bits, length or order) have the same by a chance of about 2 ** -64.
    """
    cdef const uint32_t[::1] words
    cdef uint64_t result = 1
    for array in arrays:
        words = numpy.ascontiguousarray(array, dtype="float32").reshape(-1).view("uint32")
        result = (result ^ <uint64_t>words.shape[0]) * <uint64_t>0x9E3779B97F4A7C15
        result = (result << 31) | (result >> 33)
        if words.shape[0]:
            with nogil:
                result += nmp_digest(&words[0], words.shape[0])
    return result
