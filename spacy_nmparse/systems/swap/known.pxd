"""Which moves keep all known arcs of a partial tree."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.system cimport CandidateC, StateC


cdef void keep_known(StateC* s, const GoldC* gold, CandidateC* candidates, int n) noexcept nogil
