"""Costs and losses of systems that tell, for each move, what is still lost behind it."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport CandidateC, SystemC


cdef int difference_cost(
    const StateC* s, const GoldC* gold, int move, int k, int label, int push_label
) noexcept nogil
cdef void difference_costs(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil
cdef int difference_loss(const StateC* s, const GoldC* gold) noexcept nogil
cdef void use_differences(SystemC* system) noexcept nogil
cdef void use_formulas(SystemC* system) noexcept nogil
