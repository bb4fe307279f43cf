"""The errors that arcs make, and those that their labels add."""


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
