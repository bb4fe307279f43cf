"""Softmax and the logarithm of its denominator. `skip` is an entry that is left out, or NONE."""
from spacy_nmparse.systems.state cimport NONE


ctypedef fused real:
    float
    double


cdef double log_total(const real* scores, int n, int skip) noexcept nogil
cdef double softmax(float* scores, int n, int skip) noexcept nogil
cdef void log_softmax(float* scores, int n, int skip) noexcept nogil
cdef float probability_of(const float* scores, int n, int skip, int which) noexcept nogil


cdef inline int argmax(const float* scores, int n, int skip) noexcept nogil:
    """The best entry, of equal ones the first; NONE: there is none."""
    cdef int i
    cdef int best = NONE
    for i in range(n):
        if i != skip and (best == NONE or scores[i] > scores[best]):
            best = i
    return best
