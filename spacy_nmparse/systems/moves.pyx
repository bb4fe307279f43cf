"""Shared by the moves of several systems: SHIFT, the ends of arcs, and initial configurations."""
from spacy_nmparse.systems.sentences cimport must_break
from spacy_nmparse.systems.state cimport NONE, B, S, push, read


# SHIFT: (S, b0|B, A) => (S|b0, B, A). Of ROOT, the last item of the buffer, only to an empty stack.

cdef bint can_shift(const StateC* s, int k) noexcept nogil:
    cdef int b0 = B(s, 0)
    return b0 != NONE and (b0 != s.n or s.n_stack == 0) and not must_break(s)


cdef void do_shift(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int b0 = read(s)
    if b0 == s.n and s.end < s.n:  # the sentence is complete: a fresh one starts behind it
        s.start = s.end
        s.end = s.n
        s.root_last = 1
        return
    s.push_label[b0] = push_label
    push(s, b0)


cdef int s0_end(const StateC* s, int k) noexcept nogil:
    return S(s, 0)


cdef int s1_end(const StateC* s, int k) noexcept nogil:
    return S(s, 1)


cdef int b0_end(const StateC* s, int k) noexcept nogil:
    return B(s, 0)


cdef bint always(const StateC* s, int k) noexcept nogil:
    return True


cdef bint never(const StateC* s, int k) noexcept nogil:
    return False


# Of an empty state each makes the initial configuration.

cdef void root_last(StateC* s) noexcept nogil:
    """ROOT is the last item of the buffer."""
    s.root_last = 1


cdef void root_at_bottom(StateC* s) noexcept nogil:
    """ROOT is at the bottom of the stack."""
    push(s, s.n)
