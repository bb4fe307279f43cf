"""Covington's list systems, local and non-local: the costs of their moves."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC


cdef int covington_cost(
    const StateC* s, const GoldC* gold, int move, int k, int label, int push_label
) noexcept nogil
