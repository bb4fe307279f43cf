"""The repair transitions: preconditions, effects, costs."""
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC, TransitionSystem


cdef int RIGHT_LOWER
cdef int RIGHT_RAISE
cdef int LEFT_INVERT

cdef bint can_right_lower(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_right_lower(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil

cdef bint can_right_raise(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_right_raise(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil

cdef bint can_left_invert(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_left_invert(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil
cdef int inverted_end(const SystemC* system, const StateC* s, int k) noexcept nogil

cdef int add_repairs(TransitionSystem system) except -1
