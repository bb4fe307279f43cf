"""The different words of documents."""
import numpy

from libc.stdint cimport int32_t, uint8_t, uint64_t

from spacy.attrs cimport IS_PUNCT, IS_QUOTE, IS_SPACE
from spacy.lexeme cimport Lexeme
from spacy.structs cimport TokenC
from spacy.tokens.doc cimport Doc


cdef const uint64_t ODD = 0x9E3779B97F4A7C15


cdef enum:
    NORM
    SHAPE
    TEXT


cdef Py_ssize_t count_words(list docs) except -1:
    cdef Doc doc
    cdef Py_ssize_t n = 0
    for doc in docs:
        if doc is None:
            raise TypeError("Documents are Docs, not None.")
        n += doc.length
    return n


cdef inline bint is_sign(const TokenC* token) noexcept nogil:
    return Lexeme.c_check_flag(token.lex, IS_PUNCT) or Lexeme.c_check_flag(token.lex, IS_QUOTE)


cdef inline bint is_apart(const TokenC* token) noexcept nogil:
    """Whether there is a space between a token and the next one, or one of them is a space."""
    return (
        token.spacy
        or Lexeme.c_check_flag(token.lex, IS_SPACE)
        or Lexeme.c_check_flag(token[1].lex, IS_SPACE)
    )


cdef inline uint64_t spaced_shape(Doc doc, int i) noexcept nogil:
    """The shape of a punctuation mark with the spaces around it. The document's ends are spaces."""
    cdef bint before = i == 0 or is_apart(&doc.c[i - 1])
    cdef bint after = i + 1 == doc.length or is_apart(&doc.c[i])
    return doc.c[i].lex.shape * ODD + 1 + before + 2 * after


cdef inline uint64_t read_values(
    Doc doc, int i, bint spaced, int n_columns, uint64_t* values
) noexcept nogil:
    """Read the values that tell words apart; returns a hash of them."""
    cdef const TokenC* token = &doc.c[i]
    cdef uint64_t key
    cdef int column
    values[NORM] = token.norm if token.norm else token.lex.norm
    values[SHAPE] = spaced_shape(doc, i) if spaced and is_sign(token) else token.lex.shape
    values[TEXT] = token.lex.orth
    key = values[NORM]
    for column in range(1, n_columns):
        key = key * ODD + values[column]
    return key


def find_types(list docs, bint by_text, const uint8_t[::1] spaced):
    """Find the different words of documents: those of other norms or shapes.

    The shape of a punctuation mark has in it whether a space is before and behind it, so that an
    opening quote differs from a closing one.

    Args:
        docs: the documents.
        by_text: whether words are also different where their texts are.
        spaced: bytes, of each document 1 where its spaces count, 0 where they are not known.

    Returns:
        words: uint64 (different words, 2 or, by text, 3): norm, shape, text.
        keys: uint64 (different words,): a number for each, ascending.
        place: int32 (words,): for each word of the documents its place among the different ones.
        owners: int32 (different words,): the first document that has the word.
    """
    cdef Doc doc
    cdef int d, i, column
    cdef int n_columns = 3 if by_text else 2
    cdef Py_ssize_t total = count_words(docs)
    cdef Py_ssize_t w = 0
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t size = 16
    cdef Py_ssize_t slot
    cdef uint64_t key
    cdef uint64_t[3] values
    while size < 2 * total:
        size *= 2
    found_words = numpy.empty((total, n_columns), dtype="uint64")
    found_keys = numpy.empty(total, dtype="uint64")
    found_owners = numpy.empty(total, dtype="int32")
    found_place = numpy.empty(total, dtype="int32")
    cdef uint64_t[:, ::1] words = found_words
    cdef uint64_t[::1] keys = found_keys
    cdef int32_t[::1] owners = found_owners
    cdef int32_t[::1] place = found_place
    cdef int32_t[::1] slots = numpy.full(size, -1, dtype="int32")
    for d in range(len(docs)):
        doc = docs[d]
        for i in range(doc.length):
            key = read_values(doc, i, spaced[d], n_columns, values)
            slot = <Py_ssize_t>((key ^ (key >> 32)) & <uint64_t>(size - 1))
            while slots[slot] >= 0 and keys[slots[slot]] != key:
                slot = (slot + 1) & (size - 1)
            if slots[slot] < 0:
                slots[slot] = <int32_t>n
                keys[n] = key
                owners[n] = d
                for column in range(n_columns):
                    words[n, column] = values[column]
                n += 1
            place[w] = slots[slot]
            w += 1
    order = numpy.argsort(found_keys[:n])
    places = numpy.empty(n, dtype="int32")
    places[order] = numpy.arange(n, dtype="int32")
    return found_words[order], found_keys[order], places[found_place], found_owners[order]
