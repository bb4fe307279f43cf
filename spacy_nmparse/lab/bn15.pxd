"""Björkelund & Nivre's (2015) oracles of swap_standard."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport CandidateC, MoveTable


cdef int check_swap(MoveTable system) except -1
cdef const int* components_of(const GoldC* gold) noexcept nogil
cdef void learn_lazy(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil
