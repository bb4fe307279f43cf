"""The arc-hybrid system (Kuhlmann, Gómez-Rodríguez & Satta 2011).

A configuration is (stack, buffer, arcs): ROOT is the last buffer item; final: the buffer is empty
and the stack holds ROOT alone. s0, s1 are the topmost stack items, b0 the first of the buffer. A
word leaves the stack when it gets its head, from the right as in arc-eager (b0), from the left as
in arc-standard (s1): all words on the stack are headless, and no move can close a cycle.

Loss (Goldberg & Nivre 2013). On a projective gold tree, a word w with gold head g can still get it
iff the arc g -> w is built (with the right label); or
  * w is in the buffer, and g in the buffer or on the stack; or
  * w is on the stack, and g in the buffer, or right beneath w;
and all words that can, can together. single_root: the bottom of the stack is the only stack item
that ROOT can take; of several gold roots that can be had, all but one are lost.
"""
from spacy_nmparse.systems.errors cimport can_be_right, is_lost, label_ok, least_error
from spacy_nmparse.systems.gold cimport GoldC, children_from
from spacy_nmparse.systems.moves cimport b0_end, can_shift, do_shift, root_last, s0_end, s1_end
from spacy_nmparse.systems.sentences cimport (
    break_rest,
    can_break,
    do_break,
    gold_breaks,
    least_rest,
    must_break,
    shift_rest,
)
from spacy_nmparse.systems.state cimport NONE, B, S, StateC, pop, state_add_arc
from spacy_nmparse.systems.static cimport find_move, use_static
from spacy_nmparse.systems.table cimport BREAK, LEFT_ARC, RIGHT_ARC, SHIFT
from spacy_nmparse.systems.table cimport CandidateC, MoveTable
from spacy_nmparse.systems.views cimport ViewC, height, place, stack_item, view


# SHIFT: (S, b0|B, A) => (S|b0, B, A). ROOT only to an empty stack.

cdef int shift_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """b0 loses a head on the stack beneath s0, and its dependents on the stack."""
    cdef int b0 = B(s, 0)
    cdef int g = NONE if b0 == s.n else gold.head[b0]
    cdef int cost = g != NONE and g != S(s, 0) and s.position[g] != NONE
    cdef int i
    for i in range(s.n_stack):
        cost += gold.head[s.stack[i]] == b0
    return cost


# LEFT-ARC(l): (S|s0, b0|B, A) => (S, b0|B, A + b0 -l-> s0). single_root: from ROOT only to the last
# stack item.

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil:
    if s.n_stack == 0 or B(s, 0) == NONE or must_break(s):
        return False
    return B(s, 0) != s.n or not s.system.single_root or s.n_stack == 1


cdef void do_left_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    state_add_arc(s, B(s, 0), pop(s), l)


cdef int left_arc_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """s0 loses a head other than b0, beneath it or in the buffer, and its dependents there."""
    cdef int s0 = S(s, 0)
    cdef int g = gold.head[s0]
    cdef int cost = children_from(gold, s0, s.b)
    if g == B(s, 0):
        return cost + (not label_ok(gold, s0, label))
    return cost + (g >= s.b or (g != NONE and g == S(s, 1)))


cdef int left_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    v.below -= 1
    v.has_left = True
    return least_error(s, gold, B(s, 0), S(s, 0)) + hybrid_rest(s, gold, &v)


# RIGHT-ARC(l): (S|s1|s0, B, A) => (S|s1, B, A + s1 -l-> s0).

cdef bint can_right_arc(const StateC* s, int k) noexcept nogil:
    return s.n_stack > 1 and B(s, 0) != NONE and not must_break(s)


cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int s0 = pop(s)
    state_add_arc(s, S(s, 0), s0, l)


cdef int right_arc_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """s0 loses a head in the buffer, and its dependents there."""
    cdef int s0 = S(s, 0)
    cdef int g = gold.head[s0]
    cdef int cost = children_from(gold, s0, s.b)
    if g == S(s, 1):
        return cost + (not label_ok(gold, s0, label))
    return cost + (g >= s.b)


cdef int right_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    v.below -= 1
    return least_error(s, gold, S(s, 1), S(s, 0)) + hybrid_rest(s, gold, &v)


# With single roots and sentence starts: differences of losses.

cdef int hybrid_inner(const StateC* s, const GoldC* gold, const ViewC* v, int e) noexcept nogil:
    """Words on the stack and from b to e that lose their gold head when the sentence ends at e."""
    cdef int n = gold.n
    cdef int lost = 0
    cdef int roots = 0      # that can be had
    cdef int i, w, g
    for w in range(v.b, e):
        g = gold.head[w]
        if g == n and can_be_right(s.system, gold, w):
            roots += 1
        else:
            lost += is_lost(s, gold, w, v.b <= g < e or (0 <= g < n and place(s, v, g) != NONE))
    for i in range(height(v)):
        w = stack_item(s, v, i)
        g = gold.head[w]
        if g == n and can_be_right(s.system, gold, w) and (i == 0 or not s.system.single_root):
            roots += 1
        else:
            lost += is_lost(s, gold, w, v.b <= g < e or (i > 0 and g == stack_item(s, v, i - 1)))
    return lost + (max(0, roots - 1) if s.system.single_root else 0)


cdef int hybrid_rest(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil:
    """Errors to come."""
    return least_rest(s, gold, v, hybrid_inner, False)


cdef int wanted_move(
    const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil:
    """The static oracle: BREAK where gold does; else the gold arc from b0 to s0; else that from s1
    to s0, if s0 has its dependents; else SHIFT."""
    cdef int s0 = S(s, 0)
    cdef int name = SHIFT
    if gold_breaks(s, gold):
        name = BREAK
    elif s0 != NONE and gold.head[s0] == B(s, 0):
        name = LEFT_ARC
    elif s.n_stack > 1 and gold.head[s0] == S(s, 1) and children_from(gold, s0, s.b) == 0:
        name = RIGHT_ARC
    return find_move(s, candidates, n, name, 1)


TEXTS = {
    "stack": "Words that were read and have no head yet; the top is the last one shown.",
    "buffer": "What is to come, the next one first. ROOT is the last item.",
    "SHIFT": "The first item of the buffer goes onto the stack. ROOT only goes onto an empty "
    "stack: that ends the sentence.",
    "LEFT-ARC": "The first item of the buffer becomes the head of the top of the stack, which "
    "leaves the stack. With single_root, ROOT can only be the head of the last word on the stack.",
    "RIGHT-ARC": "The word beneath the top of the stack becomes the head of the top, which leaves "
    "the stack.",
    "BREAK": "The sentence ends before the buffer.",
}


cdef class ArcHybrid(MoveTable):
    """The arc-hybrid system. Its options are those of every system."""
    def __init__(self, labels=None, **options):
        cdef int i
        self.begin("arc_hybrid", options)
        self.texts = TEXTS
        self.c.projective = True
        self.c.start = root_last
        self.c.rest = hybrid_rest
        use_static(&self.c, wanted_move)
        self.add_move(SHIFT, can_shift, do_shift, shift_cost, shift_rest)
        self.add_move(
            LEFT_ARC, can_left_arc, do_left_arc, left_arc_cost, left_arc_rest, b0_end, s0_end
        )
        self.add_move(
            RIGHT_ARC, can_right_arc, do_right_arc, right_arc_cost, right_arc_rest, s1_end, s0_end
        )
        if self.c.single_root or self.c.segment:  # the formulas know neither
            for i in range(self.c.n_moves):
                self.c.moves[i].cost = NULL
        self.add_break(can_break, do_break, NULL, break_rest)
