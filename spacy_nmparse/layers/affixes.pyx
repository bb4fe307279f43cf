"""Numbers for the beginnings and ends of words."""
import numpy

from libc.stdint cimport uint64_t


cdef inline uint64_t follow(uint64_t number, Py_UCS4 letter) noexcept nogil:
    """The number of a string with one more letter."""
    number = (number ^ <uint64_t>letter) * <uint64_t>0x9E3779B97F4A7C15
    return number ^ (number >> 32)


cdef void number_affixes(
    str word,
    bint from_end,
    const Py_ssize_t[::1] lengths,
    uint64_t[::1] running,
    uint64_t[:] numbers,
):
    """The number of the first letters of a word, or of the last ones, for each length; of all
    letters if there are fewer. ``running`` has room for the longest and for none."""
    cdef Py_ssize_t n = len(word)
    cdef Py_ssize_t most = min(n, running.shape[0] - 1)
    cdef Py_ssize_t i
    running[0] = 1
    for i in range(most):
        running[i + 1] = follow(running[i], word[n - 1 - i if from_end else i])
    for i in range(lengths.shape[0]):
        numbers[i] = running[min(most, lengths[i])]


def affix_numbers(list words, prefixes, suffixes):
    """Number the affixes of words: equal ones alike, different ones differently, on any machine.

    Args:
        words: str.
        prefixes: lengths in letters (code points), list of int; a shorter word counts as a whole.
        suffixes: the same.

    Returns:
        uint64 (words, prefixes + suffixes)

    Raises:
        ValueError: a length below 0.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n_prefixes = len(prefixes)
    cdef Py_ssize_t longest = max([*prefixes, *suffixes], default=0)
    if any(length < 0 for length in (*prefixes, *suffixes)):
        raise ValueError(f"Lengths of affixes are 0 or more: {prefixes}, {suffixes}.")
    cdef uint64_t[::1] running = numpy.empty(1 + longest, dtype="uint64")
    cdef Py_ssize_t[::1] begins = numpy.asarray(prefixes, dtype="intp")
    cdef Py_ssize_t[::1] ends = numpy.asarray(suffixes, dtype="intp")
    cdef uint64_t[:, ::1] numbers = numpy.empty(
        (len(words), n_prefixes + len(suffixes)), dtype="uint64"
    )
    for i in range(len(words)):
        number_affixes(words[i], False, begins, running, numbers[i, :n_prefixes])
        number_affixes(words[i], True, ends, running, numbers[i, n_prefixes:])
    return numpy.asarray(numbers)
