"""Arc-hybrid (Kuhlmann, Gómez-Rodríguez & Satta 2011): preconditions and effects of its arcs."""
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC, TransitionSystem


cdef bint can_left_arc(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_left_arc(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil

cdef bint can_right_arc(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_right_arc(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil


cdef class ArcHybrid(TransitionSystem):
    pass
