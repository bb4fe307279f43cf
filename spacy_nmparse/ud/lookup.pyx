# cython: boundscheck=False, wraparound=False
"""What is made of tokens' numbers, each only once; the best scores of rows."""
import numpy

from cython.operator cimport dereference
from libc.stdint cimport int32_t, uint64_t
from libcpp.unordered_map cimport unordered_map

from spacy.tokens.doc cimport Doc


cdef enum:
    MOST = 1 << 18  # pairs that are kept


cdef class Lookup:
    """What is made of pairs of numbers, one of them a hash. Where there are too many, all are
    forgotten."""
    cdef unordered_map[uint64_t, uint64_t] made

    def __reduce__(self):
        return Lookup, ()

    def each(self, const uint64_t[:, :] pairs, make):
        """What is made of each pair: uint64 (pairs,).

        Args:
            pairs: uint64 (pairs, 2).
            make: called with the two numbers of a pair that was not seen before; what it gives must
                not depend on anything else.
        """
        cdef Py_ssize_t i
        cdef uint64_t key
        cdef unordered_map[uint64_t, uint64_t].iterator known
        array = numpy.empty(pairs.shape[0], dtype="uint64")
        cdef uint64_t[::1] found = array
        if self.made.size() > MOST:
            self.made.clear()
        for i in range(pairs.shape[0]):
            key = pairs[i, 0] ^ (pairs[i, 1] * <uint64_t>0x9E3779B97F4A7C15)
            known = self.made.find(key)
            if known != self.made.end():
                found[i] = dereference(known).second
            else:
                found[i] = make(pairs[i, 0], pairs[i, 1])
                self.made[key] = found[i]
        return array


def write_lemmas(Doc doc, const uint64_t[::1] lemmas):
    """Write the lemmas of a document's tokens, hashes of strings that its vocabulary has; 0: what
    the token has stays."""
    cdef int i
    if lemmas.shape[0] != doc.length:
        raise ValueError(f"{lemmas.shape[0]} lemmas of {doc.length} tokens.")
    for i in range(doc.length):
        if lemmas[i]:
            doc.c[i].lemma = lemmas[i]


def best(const float[:, ::1] scores, int n):
    """The columns of the n highest scores of each row, highest first, int32 (rows, n); of equal
    scores the first. n: at least 1 and at most the number of columns."""
    cdef Py_ssize_t row, column
    cdef int filled, place
    cdef const float* own
    if not 1 <= n <= scores.shape[1]:
        raise ValueError(f"{n} of {scores.shape[1]} scores.")
    found = numpy.empty((scores.shape[0], n), dtype="int32")
    cdef int32_t[:, ::1] columns = found
    with nogil:
        for row in range(scores.shape[0]):
            own = &scores[row, 0]
            filled = 0
            for column in range(scores.shape[1]):
                if filled == n and not own[column] > own[columns[row, n - 1]]:
                    continue
                place = filled if filled < n else n - 1
                while place and own[column] > own[columns[row, place - 1]]:
                    columns[row, place] = columns[row, place - 1]
                    place -= 1
                columns[row, place] = <int32_t>column
                if filled < n:
                    filled += 1
    return found
