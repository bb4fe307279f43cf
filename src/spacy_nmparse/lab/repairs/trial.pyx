"""A move of the arc-eager family, made to look at what follows, and taken back.

The arcs' own edits undo each other (siblings stand in text order), so nothing is copied but the
numbers of the configuration.
"""
from spacy_nmparse.lab.repairs.repair cimport LEFT_INVERT, RIGHT_LOWER, RIGHT_RAISE
from spacy_nmparse.lab.repairs.yielding cimport LEFT_YIELD
from spacy_nmparse.systems.state cimport NONE, B, S, state_add_arc, state_del_arc
from spacy_nmparse.systems.system cimport (
    BREAK,
    LEFT_ARC,
    REDUCE,
    SHIFT,
)


cdef void make(StateC* s, int move, int label, int push_label, TrialC* t) noexcept nogil:
    """Make the move with this place in the move table. No move must come between this and its
    ``take_back`` that has not been taken back."""
    t.before = s[0]
    t.name = s.system.moves[move].name
    t.s0 = S(s, 0)
    t.s1 = S(s, 1)
    t.b0 = B(s, 0)
    t.noted = s.push_label[t.b0]
    t.x = NONE
    if t.s0 != NONE:
        t.s0_head = s.head[t.s0]
        t.s0_label = s.label[t.s0]
        if t.name == RIGHT_LOWER:
            t.x = s.inward[t.s0]
        elif t.name == LEFT_INVERT:
            t.x = s.left_child[t.s0]
            t.x_label = s.label[t.x]
        elif t.name == LEFT_YIELD:
            t.x = s.left_child[t.b0]
            t.x_label = s.label[t.x]
    s.system.moves[move].effect(s, 1, label, push_label)


cdef void take_back(StateC* s, const TrialC* t) noexcept nogil:
    """Take back what ``make`` made."""
    if t.name == BREAK:
        s.sentence_start[t.b0] = 0
    elif t.name == LEFT_ARC:
        restore_head(s, t)
    elif t.name == LEFT_INVERT:
        state_del_arc(s, t.x)
        restore_head(s, t)
        state_add_arc(s, t.s0, t.x, t.x_label)
        s.position[t.x] = NONE
    elif t.name == LEFT_YIELD:
        state_del_arc(s, t.x)
        state_add_arc(s, t.b0, t.x, t.x_label)
    elif t.name == REDUCE:
        if t.s0_head == NONE:
            state_del_arc(s, t.s0)
    else:  # a push, but for decoupled repairs
        if t.name != SHIFT:
            state_del_arc(s, t.b0)
        s.position[t.b0] = NONE
        s.push_label[t.b0] = t.noted
        if t.name == RIGHT_LOWER:
            restore_head(s, t)
            s.position[t.x] = NONE
        elif t.name == RIGHT_RAISE:
            restore_head(s, t)
            s.stack[t.before.n_stack - 2] = t.s1
            s.position[t.s1] = t.before.n_stack - 2
    s[0] = t.before
    if s.n_rebuffer > 0:
        s.rebuffer[s.n_rebuffer - 1] = t.b0
    if t.s0 != NONE:
        s.stack[s.n_stack - 1] = t.s0
        s.position[t.s0] = s.n_stack - 1


cdef inline void restore_head(StateC* s, const TrialC* t) noexcept nogil:
    state_del_arc(s, t.s0)
    if t.s0_head != NONE:
        state_add_arc(s, t.s0_head, t.s0, t.s0_label)
