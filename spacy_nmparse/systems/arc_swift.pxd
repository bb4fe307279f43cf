"""Arc-swift (Qi & Manning 2017): preconditions, effects, costs. SHIFT and BREAK are arc-eager's,
but for their costs."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC, TransitionSystem


cdef int arc_swift_shift_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef bint can_left_arc(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_left_arc(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil
cdef int left_arc_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef bint can_right_arc(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_right_arc(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil
cdef int right_arc_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef int arc_swift_break_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef int arc_swift_loss(const SystemC* system, const StateC* s, const GoldC* gold) noexcept nogil


cdef class ArcSwift(TransitionSystem):
    pass
