"""The cost formulas of Honnibal, Goldberg & Johnson (2013) as printed."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport CandidateC, SystemC


cdef int hgj13_cost(const StateC* s, const GoldC* gold, int move) noexcept nogil
cdef void hgj13_oracle(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil
