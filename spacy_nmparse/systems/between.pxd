"""Between two words: the arcs that an arc of theirs would cross, and headless words."""
from spacy_nmparse.systems.structs cimport StateC


cdef enum:
    COUNT_VALUES = 5    # counts that are told apart: 0 .. 3, and more


cdef int n_crossed(const StateC* s, int a, int b) noexcept nogil
cdef int n_headless_between(const StateC* s, int a, int b) noexcept nogil
