"""Arc-hybrid (Kuhlmann, Gómez-Rodríguez & Satta 2011): preconditions, effects, costs. SHIFT is
arc-eager's, but for its cost. The costs are those of projective gold, without single roots and
sentence starts; what is lost after each move (``rest``) is told of all."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC


cdef int shift_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil
cdef void do_left_arc(StateC* s, int k, int l, int push_label) noexcept nogil
cdef int left_arc_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil
cdef int left_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil

cdef bint can_right_arc(const StateC* s, int k) noexcept nogil
cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil
cdef int right_arc_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil
cdef int right_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
