"""Arc-standard (Nivre 2004): preconditions, effects, and what is lost after each move."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport NONE, StateC


cdef inline bint is_complete(const StateC* s, const GoldC* gold, int w) noexcept nogil:
    """Whether w has the gold dependents that wait for a head."""
    cdef int i
    for i in range(gold.child_offset[w], gold.child_offset[w + 1]):
        if s.head[gold.children[i]] == NONE:
            return False
    return True


cdef bint can_shift(const StateC* s, int k) noexcept nogil
cdef void do_shift(StateC* s, int k, int l, int push_label) noexcept nogil
cdef int shift_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil
cdef void do_left_arc(StateC* s, int k, int l, int push_label) noexcept nogil
cdef int left_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil

cdef bint can_right_arc(const StateC* s, int k) noexcept nogil
cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil
cdef int right_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil

cdef void do_break(StateC* s, int k, int l, int push_label) noexcept nogil
cdef int break_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
