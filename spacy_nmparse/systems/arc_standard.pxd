"""Arc-standard (Nivre 2004): preconditions and effects."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport CandidateC, SystemC, TransitionSystem


cdef bint can_shift(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_shift(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil

cdef bint can_left_arc(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_left_arc(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil

cdef bint can_right_arc(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_right_arc(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil

cdef void do_break(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil


cdef class ArcStandard(TransitionSystem):
    cdef int _add_arc_moves(self) except -1
    cdef int _add_break(self) except -1
