"""Softmax and the logarithm of its denominator. `mask` is 1 for entries that count, 0 for others;
NULL: all count."""
from libc.stdint cimport uint8_t

from spacy_nmparse.systems.state cimport NONE


cdef inline bint counts(const uint8_t* mask, int i) noexcept nogil:
    return mask is NULL or mask[i]


ctypedef fused real:
    float
    double


cdef double log_total(const real* scores, int n, const uint8_t* mask) noexcept nogil
cdef double softmax(float* scores, int n, const uint8_t* mask) noexcept nogil
cdef void log_softmax(float* scores, int n, const uint8_t* mask) noexcept nogil
cdef float probability_of(
    const float* scores, int n, const uint8_t* mask, int which
) noexcept nogil


cdef inline int argmax(const float* scores, int n, const uint8_t* mask) noexcept nogil:
    """The best entry, of equal ones the first; NONE: there is none."""
    cdef int i
    cdef int best = NONE
    for i in range(n):
        if counts(mask, i) and (best == NONE or scores[i] > scores[best]):
            best = i
    return best
