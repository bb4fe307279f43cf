"""Softmax and the logarithm of its denominator. `skip` is an entry that is left out, or NONE."""

ctypedef fused real:
    float
    double


cdef int argmax(const float* scores, int n, int skip) noexcept nogil
cdef double log_total(const real* scores, int n, int skip) noexcept nogil
cdef double softmax(float* scores, int n, int skip) noexcept nogil
cdef void log_softmax(float* scores, int n, int skip) noexcept nogil
cdef float probability_of(const float* scores, int n, int skip, int which) noexcept nogil
