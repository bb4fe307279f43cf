"""The repair transitions: preconditions, effects, costs."""
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC, TransitionSystem


cdef int RIGHT_LOWER
cdef int RIGHT_RAISE
cdef int LEFT_INVERT

cdef bint can_right_lower(const StateC* s, int k) noexcept nogil
cdef void do_right_lower(StateC* s, int k, int l, int push_label) noexcept nogil

cdef bint can_right_raise(const StateC* s, int k) noexcept nogil
cdef void do_right_raise(StateC* s, int k, int l, int push_label) noexcept nogil

cdef bint can_left_invert(const StateC* s, int k) noexcept nogil
cdef void do_left_invert(StateC* s, int k, int l, int push_label) noexcept nogil
cdef int inverted_end(const StateC* s, int k) noexcept nogil

cdef int add_repairs(TransitionSystem system) except -1
