# cython: language_level=3
"""A transition system that another package brings: `tests/test_cimport.py` compiles this and trains
a parser with it. It is arc-hybrid with the moves in another order.
"""
from spacy_nmparse.systems.arc_eager cimport can_shift, do_shift
from spacy_nmparse.systems.arc_hybrid cimport (
    can_left_arc,
    can_right_arc,
    do_left_arc,
    do_right_arc,
    left_arc_rest,
    right_arc_rest,
)
from spacy_nmparse.systems.differences cimport use_differences
from spacy_nmparse.systems.gold cimport GoldC, children_from
from spacy_nmparse.systems.moves cimport b0_end, is_lost, s0_end, s1_end
from spacy_nmparse.systems.sentences cimport break_rest, can_break, do_break, gold_breaks, shift_rest
from spacy_nmparse.systems.state cimport NONE, B, S, StateC
from spacy_nmparse.systems.static cimport find_move, use_static
from spacy_nmparse.systems.system cimport (
    BREAK,
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
    CandidateC,
    SystemC,
    TransitionSystem,
)
from spacy_nmparse.systems.views cimport ViewC, height, place, stack_item


cdef int inner(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int e
) noexcept nogil:
    cdef int lost = 0
    cdef int i, w, g
    for w in range(v.b, e):
        g = gold.head[w]
        lost += is_lost(
            system, gold, w,
            g == s.n or v.b <= g < e or (0 <= g < s.n and place(s, v, g) != NONE)
        )
    for i in range(height(v)):
        w = stack_item(s, v, i)
        g = gold.head[w]
        lost += is_lost(
            system, gold, w,
            v.b <= g < e or (g == s.n and (i == 0 or not system.single_root))
            or (i > 0 and g == stack_item(s, v, i - 1))
        )
    return lost


cdef int wanted_move(
    const SystemC* system, const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil:
    cdef int s0 = S(s, 0)
    cdef int name = SHIFT
    if gold_breaks(system, s, gold):
        name = BREAK
    elif s0 != NONE and gold.head[s0] == B(s, 0):
        name = LEFT_ARC
    elif s.n_stack > 1 and gold.head[s0] == S(s, 1) and children_from(gold, s0, s.b) == 0:
        name = RIGHT_ARC
    return find_move(system, candidates, n, name, 1)


cdef void start(const SystemC* system, StateC* s) noexcept nogil:
    s.root_last = 1


cdef class Outside(TransitionSystem):
    def __init__(
        self, labels=None, *, bint single_root=False, bint segment=False, root_label=None
    ):
        self.begin("outside", {
            "single_root": bool(single_root), "segment": bool(segment), "root_label": root_label
        })
        self.c.projective = True
        self.c.start = start
        self.c.inner = inner
        use_differences(&self.c)
        use_static(&self.c, wanted_move)
        if segment:
            self.add_move(BREAK, can_break, do_break, NULL, break_rest).ends_sentence = True
        self.add_move(RIGHT_ARC, can_right_arc, do_right_arc, NULL, right_arc_rest, s1_end, s0_end)
        self.add_move(LEFT_ARC, can_left_arc, do_left_arc, NULL, left_arc_rest, b0_end, s0_end)
        self.add_move(SHIFT, can_shift, do_shift, NULL, shift_rest)
