"""A move of the arc-eager family, made to look at what follows, and taken back.

Behind the move is a copy of the configuration's numbers over the same arrays. Of these, a move
changes what belongs to a few words at most, and the arcs' own edits undo each other (siblings stand
in text order): so nothing else is copied.
"""
from spacy_nmparse.systems.state cimport NONE, B, S, StateC, state_add_arc, state_del_arc


cdef enum:
    N_WORDS = 5


cdef struct TrialC:
    StateC after            # the configuration behind the move
    int word[N_WORDS]       # whose arc or place the move may change, or NONE
    int head[N_WORDS]       # before it
    int label[N_WORDS]
    int position[N_WORDS]
    int noted               # label noted for B0
    signed char starts      # whether B0 starts a sentence


cdef inline void make(
    const StateC* s, int move, int label, int push_label, TrialC* t
) noexcept nogil:
    """Make the move with this place in the move table. No move must come between this and its
    ``take_back`` that has not been taken back."""
    cdef int s0 = S(s, 0)
    cdef int b0 = B(s, 0)
    cdef int i, w
    t.after = s[0]
    t.word[0] = b0
    t.word[1] = s0
    t.word[2] = S(s, 1)
    t.word[3] = NONE if s0 == NONE else s.left_child[s0]
    t.word[4] = NONE if s0 == NONE else s.inward[s0]
    for i in range(N_WORDS):
        w = t.word[i]
        if w != NONE:
            t.head[i] = s.head[w]
            t.label[i] = s.label[w]
            t.position[i] = s.position[w]
    t.noted = s.push_label[b0]
    t.starts = s.sentence_start[b0]
    s.system.moves[move].effect(&t.after, 1, label, push_label)


cdef inline void take_back(const StateC* s, TrialC* t) noexcept nogil:
    """Take back what ``make`` made of this configuration."""
    cdef int b0 = t.word[0]
    cdef int i, w
    for i in range(N_WORDS):
        w = t.word[i]
        if w != NONE and s.head[w] != t.head[i]:
            state_del_arc(&t.after, w)
    for i in range(N_WORDS):
        w = t.word[i]
        if w == NONE:
            continue
        if s.head[w] != t.head[i]:
            state_add_arc(&t.after, t.head[i], w, t.label[i])
        s.position[w] = t.position[i]
        if t.position[i] != NONE:
            s.stack[t.position[i]] = w
    s.push_label[b0] = t.noted
    s.sentence_start[b0] = t.starts
    if s.n_rebuffer > 0:
        s.rebuffer[s.n_rebuffer - 1] = b0
