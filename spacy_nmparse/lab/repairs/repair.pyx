"""Repair transitions of the arc-eager system: they revise an arc and make one with B0, at once.
With ``decoupled_repairs`` they only revise, and the next move may make the arc with B0.

The fourth repair, left reattach, is LEFT-ARC over an existing head (``nonmonotonic_left``). All
keep the invariants of ``arc_eager``: a stack item with a head has the item right beneath it as its
head. Derivations end: every other move that pushes reads a word from the buffer. Decoupled repairs
read none, but while B0 stays the same, S0 never becomes a later word: all other moves, and
LEFT-INVERT, make it an earlier one, and RIGHT-LOWER and RIGHT-RAISE, which leave it and could undo
each other, are not made twice of the same S0 (``revised_word``).

``revision`` computes what they cost: the least loss behind them less the least loss before.
"""
from spacy_nmparse.lab.repairs.options cimport (
    REVISED,
    REVISED_AT,
    RepairsC,
    revised,
    revised_word,
)
from spacy_nmparse.systems.moves cimport always, b0_end, s0_end
from spacy_nmparse.systems.names cimport new_move
from spacy_nmparse.systems.state cimport (
    NONE,
    B,
    S,
    StateC,
    pop,
    push,
    state_add_arc,
    state_del_arc,
)
from spacy_nmparse.systems.table cimport (
    MoveC,
    MoveTable,
    arc_end_t,
    effect_t,
    no_arc,
    precondition_t,
)


cdef int RIGHT_LOWER = new_move("RIGHT-LOWER")
cdef int RIGHT_RAISE = new_move("RIGHT-RAISE")
LEFT_INVERT = new_move("LEFT-INVERT")


cdef inline bint can_make_arc(int move, const StateC* s) noexcept nogil:
    """Whether LEFT-ARC or RIGHT-ARC is legal."""
    return s.system.moves[move].precondition(s, 1)


# RIGHT-LOWER(l): (S|s1|s0, b0|B, A) => (S|s1|x|s0|b0, B, A - (s1 -> s0) + x -> s0 + s0 -l-> b0),
# where s1 is the head of s0, and x, its dependent, the one before s0: it had been reduced.
# Decoupled: (S|s1|s0, b0|B, A) => (S|s1|x|s0, b0|B, A - (s1 -> s0) + x -> s0), s0 not just revised.

cdef bint can_right_lower(const StateC* s, int k) noexcept nogil:
    cdef int s0 = S(s, 0)
    return (
        revised(s).right_lower and can_make_arc(revised(s).right_arc, s)
        and s.head[s0] != NONE and s.inward[s0] != NONE and revised_word(s) != s0
    )


cdef void do_right_lower(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int s0 = pop(s)
    cdef int x = s.inward[s0]
    cdef int label = s.label[s0]
    state_del_arc(s, s0)
    push(s, x)
    state_add_arc(s, x, s0, label)
    push(s, s0)
    make_right_arc(s, l, push_label)


cdef inline void make_right_arc(StateC* s, int l, int push_label) noexcept nogil:
    """RIGHT-ARC; decoupled: note that S0 was revised."""
    if revised(s).decoupled_repairs:
        s.numbers[REVISED] = S(s, 0)
        s.numbers[REVISED_AT] = s.b - s.n_rebuffer
    else:
        s.system.moves[revised(s).right_arc].effect(s, 1, l, push_label)


# RIGHT-RAISE(l): (S|s2|s1|s0, b0|B, A) => (S|s2|s0|b0, B, A - (s1 -> s0) + s2 -> s0 + s0 -l-> b0),
# where s1 is the head of s0, and s2 that of s1.
# Decoupled: (S|s2|s1|s0, b0|B, A) => (S|s2|s0, b0|B, A - (s1 -> s0) + s2 -> s0), likewise.

cdef bint can_right_raise(const StateC* s, int k) noexcept nogil:
    return (
        revised(s).right_raise and can_make_arc(revised(s).right_arc, s)
        and s.head[S(s, 0)] != NONE and s.head[S(s, 1)] != NONE and revised_word(s) != S(s, 0)
    )


cdef void do_right_raise(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int s0 = pop(s)
    cdef int label = s.label[s0]
    state_del_arc(s, s0)
    pop(s)
    state_add_arc(s, S(s, 0), s0, label)
    push(s, s0)
    make_right_arc(s, l, push_label)


# LEFT-INVERT(l): (S|s0, b0|B, A) => (S, b0|B, A - (h -> s0) - (s0 -> x) + x -> s0 + b0 -l-> x),
# where x is the leftmost dependent of s0, on its left; s0 takes the label that x had.
# Decoupled: (S|s0, b0|B, A) => (S|x, b0|B, A - (h -> s0) - (s0 -> x) + x -> s0).

cdef bint can_left_invert(const StateC* s, int k) noexcept nogil:
    return (
        revised(s).left_invert and can_make_arc(revised(s).left_arc, s)
        and s.left_child[S(s, 0)] != NONE
    )


cdef void do_left_invert(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int s0 = pop(s)
    cdef int x = s.left_child[s0]
    cdef int label = s.label[x]
    state_del_arc(s, s0)
    state_del_arc(s, x)
    state_add_arc(s, x, s0, label)
    if revised(s).decoupled_repairs:
        push(s, x)
    else:
        state_add_arc(s, B(s, 0), x, l)


cdef int inverted_end(const StateC* s, int k) noexcept nogil:
    """The dependent of LEFT-INVERT's labelled arc."""
    return s.left_child[S(s, 0)]


# What a scorer should look at: the words that would gain or lose a head.
FEATURES = {
    "RIGHT-LOWER": ("S1.r2", "S0*S1.r2", "S1.r2.label"),
    "RIGHT-RAISE": ("S0.h.h", "S0*S0.h.h"),
    "LEFT-INVERT": ("S0.l1*B0",),
}


cdef int add_repairs(MoveTable system) except -1:
    """Add the moves that the system's ``repairs`` name to its move table."""
    cdef const RepairsC* own = <const RepairsC*>system.c.own
    system.features = FEATURES
    if own.right_lower:
        add(system, RIGHT_LOWER, can_right_lower, do_right_lower, s0_end, b0_end)
    if own.right_raise:
        add(system, RIGHT_RAISE, can_right_raise, do_right_raise, s0_end, b0_end)
    if own.left_invert:
        add(system, LEFT_INVERT, can_left_invert, do_left_invert, b0_end, inverted_end)
    return 0


cdef int add(
    MoveTable system, int name, precondition_t precondition, effect_t effect,
    arc_end_t head, arc_end_t dependent
) except -1:
    cdef bint decoupled = (<const RepairsC*>system.c.own).decoupled_repairs
    cdef MoveC* move = system.add_move(
        name, precondition, effect, NULL, NULL, no_arc if decoupled else head,
        no_arc if decoupled else dependent
    )
    move.is_repair = always
    if decoupled:
        move.attached = s0_end
    return 0
