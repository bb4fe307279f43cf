"""Numbers for the beginnings and ends of words."""
import numpy

from libc.stdint cimport uint64_t


cdef inline uint64_t follow(uint64_t number, Py_UCS4 letter) noexcept nogil:
    """The number of a string with one more letter."""
    number = (number ^ <uint64_t>letter) * <uint64_t>0x9E3779B97F4A7C15
    return number ^ (number >> 32)


cdef uint64_t number_of(str word, Py_ssize_t length, bint from_end):
    """The number of the first letters of a word, or the last ones; of all if there are fewer."""
    cdef Py_ssize_t n = len(word)
    cdef Py_ssize_t i
    cdef uint64_t number = 1
    for i in range(min(n, length)):
        number = follow(number, word[n - 1 - i if from_end else i])
    return number


def affix_numbers(list words, prefixes, suffixes):
    """Number the affixes of words: equal ones alike, different ones differently, on any machine.

    Args:
        words: str.
        prefixes: lengths in letters (code points), list of int; a shorter word counts as a whole.
        suffixes: the same.

    Returns:
        uint64 (words, prefixes + suffixes)
    """
    cdef uint64_t[:, ::1] numbers
    cdef Py_ssize_t[::1] lengths
    cdef Py_ssize_t i, j
    cdef Py_ssize_t n_prefixes = len(prefixes)
    cdef Py_ssize_t n_affixes = n_prefixes + len(suffixes)
    result = numpy.empty((len(words), n_affixes), dtype="uint64")
    if result.size == 0:
        return result
    numbers = result
    lengths = numpy.asarray([*prefixes, *suffixes], dtype="intp")
    for i in range(len(words)):
        for j in range(n_affixes):
            numbers[i, j] = number_of(words[i], lengths[j], j >= n_prefixes)
    return result
