"""For systems that may end with headless words: sets of words in one tree, so that no move climbs
heads to see a cycle. The sets are the first N_SETS arrays of the system's own."""
from spacy_nmparse.systems.structs cimport NONE, StateC


cdef enum:
    LINK        # union-find: word -> the next, or minus its set's size
    TOP         # first of a set -> the word that heads it, or NONE: itself
    N_SETS


cdef void join(StateC* s, int head, int dependent) noexcept nogil


cdef inline int treetop(const StateC* s, int w) noexcept nogil:
    """The word at the top of the tree that w is in (see ``join``)."""
    cdef const int* top = s.own + s.n + 1
    while s.own[w] >= 0:
        w = s.own[w]
    return w if top[w] == NONE else top[w]
