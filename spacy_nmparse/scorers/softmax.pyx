"""Softmax and the logarithm of its denominator. `mask` is 1 for entries that count, 0 for others;
NULL: all count."""
from libc.math cimport exp, log


cdef double log_total(const real* scores, int n, const uint8_t* mask) noexcept nogil:
    """The logarithm of the sum of exp of the scores."""
    cdef int i
    cdef double top = -1e30
    cdef double total = 0
    for i in range(n):
        if counts(mask, i) and scores[i] > top:
            top = scores[i]
    for i in range(n):
        if counts(mask, i):
            total += exp(scores[i] - top)
    return top + log(total)


cdef double softmax(float* scores, int n, const uint8_t* mask) noexcept nogil:
    """Make scores probabilities, in place; entries that do not count get 0. Returns what log_total
    of the scores was, with a float's precision."""
    cdef int i
    cdef float top = -1e30
    cdef float total = 0
    for i in range(n):
        if counts(mask, i) and scores[i] > top:
            top = scores[i]
    for i in range(n):
        scores[i] = <float>exp(scores[i] - top) if counts(mask, i) else 0
        total += scores[i]
    for i in range(n):
        scores[i] /= total
    return top + log(total)


cdef void log_softmax(float* scores, int n, const uint8_t* mask) noexcept nogil:
    """Make scores logarithms of probabilities, in place; entries that do not count stay."""
    cdef int i
    cdef double total = log_total(scores, n, mask)
    for i in range(n):
        if counts(mask, i):
            scores[i] = <float>(scores[i] - total)


cdef float probability_of(
    const float* scores, int n, const uint8_t* mask, int which
) noexcept nogil:
    """The probability of one entry."""
    cdef int i
    cdef double total = 0
    for i in range(n):
        if counts(mask, i):
            total += exp(<double>scores[i] - scores[which])
    return <float>(1 / total)
