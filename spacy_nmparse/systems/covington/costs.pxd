"""All costs of a configuration of a list system at once, in linear time."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport CandidateC, SystemC


cdef void list_costs(
    const StateC* s, const GoldC* gold, int push_label, bint exact, CandidateC* candidates, int n
) noexcept nogil
