"""LEFT-YIELD: a move for a frequent error, a left dependent of B0 that belongs to S0
(``lab.mining``). It is one more move of arc-eager with both non-monotonic options.

LEFT-YIELD(l): (S|s0, b0|B, A) => (S|s0, b0|B, A - (b0 -> w) + s0 -l-> w), where w is the leftmost
dependent of b0, on its left; b0 is not ROOT. w stays off the stack. Derivations end: while b0 is at
the front, each of its dependents leaves it once.

Loss. On a projective gold tree, a word w with gold head g that L+D would lose can still get it iff
w is a left dependent of B0, or on the stack, and g is beneath it there: LEFT-ARC pops w, if it has
to, and once what is above g has been popped, LEFT-YIELD attaches w. A word of the stack can do so
only while a word is at the front. So all above it must leave the stack before ROOT is at the front,
or before BREAK, which loses the arc from ROOT to one of them, and, where gold descendants of one of
them go on to the end of the text, one more arc. The loss is the least over the stack items from
which on all leave before. A word behind the end of the sentence serves too: it yields all of its
dependents before BREAK, as long as the stack is not empty.
"""
from spacy_nmparse.lab.repairs.options cimport revised
from spacy_nmparse.systems.arc_eager_exact cimport inner, lost_if_popped
from spacy_nmparse.systems.moves cimport always, arc_error, can_be_right, s0_end
from spacy_nmparse.systems.sentences cimport errors_behind, must_break
from spacy_nmparse.systems.state cimport NONE, B, S, state_add_arc, state_del_arc
from spacy_nmparse.systems.system cimport MoveC, new_move
from spacy_nmparse.systems.views cimport height, is_fresh, stack_item


LEFT_YIELD = new_move("LEFT-YIELD")


cdef bint can_yield(const StateC* s, int k) noexcept nogil:
    cdef int b0 = B(s, 0)
    if not revised(s).left_yield or s.n_stack == 0 or b0 == NONE or b0 == s.n or must_break(s):
        return False
    return s.left_child[b0] != NONE


cdef void do_yield(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int w = s.left_child[B(s, 0)]
    state_del_arc(s, w)
    state_add_arc(s, S(s, 0), w, l)


cdef int yielded_end(const StateC* s, int k) noexcept nogil:
    """The dependent of LEFT-YIELD's arc."""
    return s.left_child[B(s, 0)]


cdef int add_yield(TransitionSystem system) except -1:
    """Add LEFT-YIELD to the system's move table."""
    cdef MoveC* move = system.add_move(
        LEFT_YIELD, can_yield, do_yield, NULL, NULL, s0_end, yielded_end
    )
    move.is_repair = always
    system.features = {"LEFT-YIELD": ("B0.l1*S0", "B0.l1*B0")}
    return 0


cdef inline bint on_stack(const StateC* s, int w) noexcept nogil:
    return 0 <= w < s.n and s.position[w] != NONE


cdef inline bint can_get(const StateC* s, const GoldC* gold, int w) noexcept nogil:
    """Whether the gold head of w is on the stack, beneath it if w is on it, so that LEFT-YIELD can
    attach w."""
    cdef int g = gold.head[w]
    return g < w and on_stack(s, g) and can_be_right(s.system, gold, w)


cdef int anchor(const StateC* s, const GoldC* gold, int e) noexcept nogil:
    """The place of the stack word that has gold descendants up to e, the topmost one, or NONE."""
    cdef int w = e - 1
    while s.b <= w < e:
        w = gold.head[w]
    return s.position[w] if on_stack(s, w) else NONE


cdef int still_lost(const StateC* s, const GoldC* gold, const ViewC* v, int e) noexcept nogil:
    """Words on the stack and from b to e that lose their gold head when the sentence ends at e."""
    cdef int lost = inner(s, gold, v, e)
    # Whether the word behind the sentence is at the front before its end.
    cdef bint behind = e < s.n and s.constraint[e] != 1
    cdef int needed = NONE if behind else anchor(s, gold, e)
    cdef int gain = 0       # words that can yield from the item in hand on, less what that costs
    cdef int best = 0
    cdef int i, w
    if v.closed or (e == v.b and not behind):
        return lost
    for i in range(height(v) - 1, 0, -1):
        w = stack_item(s, v, i)
        if lost_if_popped(s, gold, v, i, e):
            gain += can_get(s, gold, w)
        elif gold.head[w] == s.n:
            gain -= 1
        gain -= i == needed
        best = max(best, gain)
    return lost - best


cdef int yielded_loss(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil:
    """Errors in the current sentence and behind it, those already made there included."""
    cdef int b0 = B(s, 0)
    cdef int done = 0
    cdef int missed = 0
    cdef int kept = 0       # left dependents of B0 that are right
    cdef int least = NONE
    cdef int w, e, loss
    for w in range(s.start, s.b):
        if s.position[w] == NONE:
            loss = arc_error(gold, s.head[w], w, s.label[w])
            if s.head[w] == b0 and b0 < s.n:
                kept += gold.head[w] != NONE and loss == 0
                loss = loss and not can_get(s, gold, w)
            done += loss
        if s.system.segment and w > s.start:
            done += gold.sent_start[w] == 1
    if not s.system.segment:
        return done + still_lost(s, gold, v, s.end)
    if v.closed:
        e = s.end
        return (
            done + still_lost(s, gold, v, e) + (gold.sent_start[e] == 0)
            + errors_behind(s, gold, e)
        )
    for e in range(s.b, s.n + 1):
        if e == s.n or (
            e > s.start and s.constraint[e] != -1
            and not (e == s.b and v.has_left and s.n_stack == 0)
        ):
            loss = done + missed + still_lost(s, gold, v, e)
            if e < s.n:
                loss += (gold.sent_start[e] == 0) + errors_behind(s, gold, e)
                loss += kept if e == s.b else 0
            least = loss if least == NONE else min(least, loss)
        if e == s.n or (e > s.start and s.constraint[e] == 1):
            break
        missed += gold.sent_start[e] == 1 and not (e == s.b and is_fresh(s, v))
    return least
