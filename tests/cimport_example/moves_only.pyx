# cython: language_level=3
from spacy_nmparse.systems.moves cimport b0_end, can_shift, do_shift, root_last, s0_end, s1_end
from spacy_nmparse.systems.sentences cimport can_break, do_break, must_break
from spacy_nmparse.systems.state cimport NONE, B, S, StateC, pop, state_add_arc
from spacy_nmparse.systems.table cimport LEFT_ARC, RIGHT_ARC, SHIFT, MoveTable


cdef bint can_left_arc(const StateC* s, int k) noexcept nogil:
    return s.n_stack > 0 and B(s, 0) != NONE and not must_break(s)


cdef void do_left_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    state_add_arc(s, B(s, 0), pop(s), l)


cdef bint can_right_arc(const StateC* s, int k) noexcept nogil:
    return s.n_stack > 1 and B(s, 0) != NONE and not must_break(s)


cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int s0 = pop(s)
    state_add_arc(s, S(s, 0), s0, l)


cdef class MovesOnly(MoveTable):
    def __init__(self, labels=None, **options):
        self.begin("moves_only", options)
        self.c.projective = True
        self.c.start = root_last
        self.add_move(SHIFT, can_shift, do_shift, NULL, NULL)
        self.add_move(LEFT_ARC, can_left_arc, do_left_arc, NULL, NULL, b0_end, s0_end)
        self.add_move(RIGHT_ARC, can_right_arc, do_right_arc, NULL, NULL, s1_end, s0_end)
        self.add_break(can_break, do_break, NULL, NULL)
