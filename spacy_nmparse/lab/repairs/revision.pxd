"""The loss of arc-eager configurations with repair transitions or Unshift, by bounds and search."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport CandidateC, SystemC


cdef int revised_loss(const StateC* s, const GoldC* gold) noexcept nogil
cdef int revised_cost(
    const StateC* s, const GoldC* gold, int move, int label, int push_label
) noexcept nogil
cdef void revised_costs(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil

cdef void revised_least_costs(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil
