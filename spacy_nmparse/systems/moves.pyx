"""What the moves of several systems share: the ends of arcs, and the errors that arcs make."""
from spacy_nmparse.systems.state cimport B, S, push


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


cdef void root_at_bottom(StateC* s) noexcept nogil:
    """Make an empty state the initial configuration of a system that has ROOT on the stack."""
    push(s, s.n)


cdef int settled(const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors that nothing can change any more, where arcs are not replaced."""
    cdef int errors = 0
    cdef int w
    for w in range(s.n):
        if s.head[w] != NONE:
            errors += arc_error(gold, s.head[w], w, s.label[w])
        if s.system.segment and w > 0 and (w < s.b or s.sentence_start[w]):
            errors += gold.sent_start[w] == (0 if s.sentence_start[w] else 1)
    return errors
