"""SwapStandard (Nivre 2009): SWAP. The other moves are arc-standard's."""
from spacy_nmparse.systems.arc_standard cimport ArcStandard
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC


cdef bint can_swap(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_swap(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil


cdef class SwapStandard(ArcStandard):
    cdef int bind(self, Gold gold) except -1
