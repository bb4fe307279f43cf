"""The sequences that a search goes through, and the trees that it finds for them."""
from libc.stdint cimport int8_t, int32_t, uintptr_t

from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.table cimport MoveTable


cdef class Sequences:
    cdef MoveTable system
    cdef Scorer scored
    cdef int n                      # sequences
    cdef int n_words
    cdef int longest                # words of the longest sequence
    cdef const int[::1] lengths
    cdef int8_t[::1] constraints    # a copy
    cdef object given               # keeps the trees alive that have addresses
    cdef uintptr_t[::1] addresses

    cdef int check_words(self) except -1
    cdef int find_addresses(self) except -1

    cdef inline const GoldC* tree(self, int i) noexcept nogil:
        """The tree whose known arcs the i-th sequence keeps, or NULL."""
        return <const GoldC*>self.addresses[i]


# Where the best tree of some words goes.
cdef struct OutputC:
    int32_t* heads          # numbers in the sequence; a root's is its own
    int32_t* labels
    int8_t* starts
    float* head_p           # probabilities; NULL: nobody asks
    float* label_p


cdef class Found:
    cdef int32_t[::1] heads
    cdef int32_t[::1] labels
    cdef int8_t[::1] starts
    cdef float[:, ::1] probabilities    # or None

    cdef OutputC behind(self, int n) noexcept nogil
    cdef tuple trees(self)
