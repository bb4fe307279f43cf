"""Softmax and the logarithm of its denominator. `skip` is an entry that is left out, or NONE."""
from libc.math cimport exp, log


cdef double log_total(const real* scores, int n, int skip) noexcept nogil:
    """The logarithm of the sum of exp of the scores."""
    cdef int i
    cdef double top = -1e30
    cdef double total = 0
    for i in range(n):
        if i != skip and scores[i] > top:
            top = scores[i]
    for i in range(n):
        if i != skip:
            total += exp(scores[i] - top)
    return top + log(total)


cdef double softmax(float* scores, int n, int skip) noexcept nogil:
    """Make scores probabilities, in place; the entry `skip` gets 0. Returns what log_total of the
    scores was, with a float's precision."""
    cdef int i
    cdef float top = -1e30
    cdef float total = 0
    for i in range(n):
        if i != skip and scores[i] > top:
            top = scores[i]
    for i in range(n):
        scores[i] = 0 if i == skip else <float>exp(scores[i] - top)
        total += scores[i]
    for i in range(n):
        scores[i] /= total
    return top + log(total)


cdef void log_softmax(float* scores, int n, int skip) noexcept nogil:
    """Make scores logarithms of probabilities, in place; the entry `skip` does not change."""
    cdef int i
    cdef double total = log_total(scores, n, skip)
    for i in range(n):
        if i != skip:
            scores[i] = <float>(scores[i] - total)


cdef float probability_of(const float* scores, int n, int skip, int which) noexcept nogil:
    """The probability of one entry."""
    cdef int i
    cdef double total = 0
    for i in range(n):
        if i != skip:
            total += exp(<double>scores[i] - scores[which])
    return <float>(1 / total)
