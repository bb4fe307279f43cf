"""Covington's list systems, local and non-local: preconditions and effects."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC, TransitionSystem, next_k_t


cdef bint can_shift(const StateC* s, int k) noexcept nogil
cdef void do_shift(StateC* s, int k, int l, int push_label) noexcept nogil

cdef bint can_skip(const StateC* s, int k) noexcept nogil
cdef void do_skip(StateC* s, int k, int l, int push_label) noexcept nogil

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil
cdef void do_left_arc(StateC* s, int k, int l, int push_label) noexcept nogil

cdef bint can_right_arc(const StateC* s, int k) noexcept nogil
cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil

cdef void do_break(StateC* s, int k, int l, int push_label) noexcept nogil


cdef int covington_cost(
    const StateC* s, const GoldC* gold, int move, int k, int label, int push_label
) noexcept nogil


cdef class Covington(TransitionSystem):
    cdef int _add_arcs(self, next_k_t next_k) except -1


cdef class NonLocalCovington(Covington):
    pass
