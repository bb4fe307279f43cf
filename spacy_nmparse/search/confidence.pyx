"""Confidence in each word's head and label.

    p(head) = p(move that attached the word) * product of (1 - p(moves that attach the word))

p is a probability among the legal moves of one configuration; the product is over all other
configurations of the word's sentence: what precedes BREAK says nothing of the words behind it.
p(label) is the label's probability among those of its move.
"""
from libc.math cimport exp

from spacy_nmparse.scorers.softmax cimport log_total
from spacy_nmparse.search.choice cimport ConfidenceC
from spacy_nmparse.systems.state cimport NONE, B, S, StateC
from spacy_nmparse.systems.structs cimport SystemC

# What the made move adds to 1 - attaching may be lost in rounding.
cdef float LEAST = 1e-6


cdef inline int attached(const SearchC* search, const CandidateC* c) noexcept nogil:
    """The word that a move attaches, or NONE; it may not have a label to choose."""
    return search.system.moves[c.move].attached(search.s, c.k)


cdef bint is_only_word(const SearchC* search) noexcept nogil:
    """Whether the sentence has one word, as far as its end is given: all moves leave it to ROOT."""
    cdef const StateC* s = search.s
    return s.b == s.start and (
        s.b + 1 == s.n or (search.system.segment and s.constraint[s.b + 1] == 1)
    )


cdef void record_attaching(SearchC* search) noexcept nogil:
    """Note, for each word that legal moves attach, their probability."""
    cdef float* attaching = search.confidence.attaching
    cdef int* listed = search.confidence.listed
    cdef double total
    cdef float before
    cdef int i, w
    for i in range(listed[0]):
        attaching[listed[1 + i]] = 0
    listed[0] = 0
    if search.n == 1 or is_only_word(search):
        return
    total = log_total(search.scores, search.n, NULL)
    for i in range(search.n):
        w = attached(search, &search.candidates[i])
        if w == NONE:
            continue
        before = attaching[w]
        attaching[w] += <float>exp(search.scores[i] - total)
        if before == 0 and attaching[w] > 0:
            listed[0] += 1
            listed[listed[0]] = w


cdef void record_missed(SearchC* search, const CandidateC* c, BeforeC* before) noexcept nogil:
    """Note, before a move, which words it may attach, and which words only other moves would have
    attached. BREAK says nothing of the word that it comes before."""
    cdef const SystemC* system = search.system
    cdef const StateC* s = search.s
    cdef const ConfidenceC* confidence = &search.confidence
    cdef int taken = attached(search, c)
    cdef int last = s.b if system.moves[c.move].ends_sentence else min(s.b + 1, s.n)
    cdef int i, w
    for i in range(confidence.listed[0]):
        w = confidence.listed[1 + i]
        if w != taken and w < last:
            confidence.untouched[w] *= max(1 - confidence.attaching[w], LEAST)
    before.words[0] = B(s, 0)
    before.words[1] = S(s, 0)
    before.words[2] = S(s, 1)
    before.words[3] = c.dependent
    for i in range(4):
        if before.words[i] == s.n:
            before.words[i] = NONE
        before.heads[i] = NONE if before.words[i] == NONE else s.head[before.words[i]]


cdef void record_made(SearchC* search, const ChoiceC* made, const BeforeC* before) noexcept nogil:
    """Note, after a move, how sure it was of whom it has attached."""
    cdef const int* heads = search.s.head
    cdef const ConfidenceC* confidence = &search.confidence
    cdef int i, w
    for i in range(3):  # without a label to choose
        w = before.words[i]
        if w == NONE or w == made.move.dependent:
            continue
        if heads[w] != NONE and heads[w] != before.heads[i]:
            confidence.head[w] = made.move_p
            confidence.label[w] = confidence.noted[w]
    if made.move.dependent != NONE:
        confidence.head[made.move.dependent] = made.move_p
        confidence.label[made.move.dependent] = made.label_p
    if before.words[0] != NONE:  # the pushed word, in case
        confidence.noted[before.words[0]] = made.label_p
        if search.system.moves[made.move.move].ends_sentence:
            if search.s.sentence_start[before.words[0]]:
                confidence.untouched[before.words[0]] = 1
