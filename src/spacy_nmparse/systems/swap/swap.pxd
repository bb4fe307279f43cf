"""SwapStandard (Nivre 2009): SWAP, and what is lost after each move. The other moves are
arc-standard's."""
from spacy_nmparse.systems.arc_standard cimport ArcStandard
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC


cdef bint can_swap(const StateC* s, int k) noexcept nogil
cdef void do_swap(StateC* s, int k, int l, int push_label) noexcept nogil

# Errors to come after the moves, and their own, but for labels.
cdef int shift_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int left_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int right_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int swap_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int break_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int rest_here(const StateC* s, const GoldC* gold) noexcept nogil


cdef class SwapStandard(ArcStandard):
    cdef int bind(self, Gold gold) except -1
