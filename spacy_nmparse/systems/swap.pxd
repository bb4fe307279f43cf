"""SwapStandard (Nivre 2009): preconditions, effects, costs. The other moves are arc-standard's."""
from spacy_nmparse.systems.arc_standard cimport ArcStandard
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC


cdef int swap_standard_shift_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil
cdef int swap_standard_left_arc_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil
cdef int swap_standard_right_arc_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef bint can_swap(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_swap(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil
cdef int swap_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef int swap_standard_break_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef int swap_standard_loss(
    const SystemC* system, const StateC* s, const GoldC* gold
) noexcept nogil


cdef class SwapStandard(ArcStandard):
    cdef int bind(self, Gold gold) except -1
