"""Arc-swift (Qi & Manning 2017): preconditions and effects. SHIFT is arc-eager's."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC, TransitionSystem


cdef bint can_left_arc(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_left_arc(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil

cdef bint can_right_arc(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_right_arc(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil


cdef class ArcSwift(TransitionSystem):
    pass
