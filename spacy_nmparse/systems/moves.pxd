"""Shared by the moves of several systems: SHIFT, the ends of arcs, and initial configurations."""
from spacy_nmparse.systems.structs cimport StateC


cdef bint can_shift(const StateC* s, int k) noexcept nogil
cdef void do_shift(StateC* s, int k, int l, int push_label) noexcept nogil

cdef int s0_end(const StateC* s, int k) noexcept nogil
cdef int s1_end(const StateC* s, int k) noexcept nogil
cdef int b0_end(const StateC* s, int k) noexcept nogil
cdef bint always(const StateC* s, int k) noexcept nogil
cdef bint never(const StateC* s, int k) noexcept nogil

cdef void root_last(StateC* s) noexcept nogil
cdef void root_at_bottom(StateC* s) noexcept nogil
