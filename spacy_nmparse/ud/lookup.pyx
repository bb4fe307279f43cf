# cython: boundscheck=False, wraparound=False
"""Functions of two numbers of a token, each called once for each pair; the best scores of rows."""
import numpy

from cython.operator cimport dereference
from libc.stdint cimport int32_t, uint64_t
from libcpp.unordered_map cimport unordered_map

from spacy.structs cimport TokenC
from spacy.tokens.doc cimport Doc


cdef enum:
    MOST = 1 << 18  # pairs that are kept


cdef class Lookup:
    """The values that a function has for pairs of numbers, one of them a hash. Beyond MOST pairs,
    all are forgotten."""
    cdef unordered_map[uint64_t, uint64_t] made

    def __reduce__(self):
        return Lookup, ()

    cdef uint64_t of(self, uint64_t one, uint64_t other, make) except? 1:
        cdef uint64_t key = one ^ (other * <uint64_t>0x9E3779B97F4A7C15)
        cdef uint64_t found
        cdef unordered_map[uint64_t, uint64_t].iterator known = self.made.find(key)
        if known != self.made.end():
            return dereference(known).second
        found = make(one, other)
        if self.made.size() > MOST:
            self.made.clear()
        self.made[key] = found
        return found

    def each(self, const uint64_t[:, :] pairs, make):
        """The value of each pair: uint64 (pairs,).

        Args:
            pairs: uint64 (pairs, 2).
            make: the function, called with the two numbers of a new pair; its value must not depend
                on anything else.
        """
        cdef Py_ssize_t i
        array = numpy.empty(pairs.shape[0], dtype="uint64")
        cdef uint64_t[::1] found = array
        for i in range(pairs.shape[0]):
            found[i] = self.of(pairs[i, 0], pairs[i, 1], make)
        return array

    def lemmas(self, Doc doc, make):
        """The value of each token's ORTH and POS; 0 for a token with a lemma: uint64 (tokens,)."""
        cdef int i
        cdef const TokenC* token
        array = numpy.zeros(doc.length, dtype="uint64")
        cdef uint64_t[::1] found = array
        for i in range(doc.length):
            token = &doc.c[i]
            if token.lemma == 0:
                found[i] = self.of(token.lex.orth, token.pos, make)
        return array

    def forms(self, Doc doc, make):
        """The value of each token's LOWER and TAG: uint64 (tokens,)."""
        cdef int i
        array = numpy.empty(doc.length, dtype="uint64")
        cdef uint64_t[::1] found = array
        for i in range(doc.length):
            found[i] = self.of(doc.c[i].lex.lower, doc.c[i].tag, make)
        return array

    def neighbours(self, Doc doc, make):
        """The value of LOWER of each token and of the next one; 0 for the last token, and where a
        space is between: uint64 (tokens,)."""
        cdef int i
        array = numpy.zeros(doc.length, dtype="uint64")
        cdef uint64_t[::1] found = array
        for i in range(doc.length - 1):
            if not doc.c[i].spacy:
                found[i] = self.of(doc.c[i].lex.lower, doc.c[i + 1].lex.lower, make)
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
