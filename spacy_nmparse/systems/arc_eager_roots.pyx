# Nothing of this module can be imported from Python; see arc_eager_roots.pxd.
"""What single roots and sentence starts add to arc-eager's loss and costs.

With ``single_root``, only one of several gold roots of a sentence can be its root; the others are
surplus.
"""
from spacy_nmparse.systems.sentences cimport decided_starts, may_break, must_break


cdef int surplus_roots(
    const StateC* s, const GoldC* gold, bint bottom_root, int first, bint open_start
) noexcept nogil:
    """Gold roots that lose ROOT to another gold root of their sentence. Candidates are the bottom
    of the stack, and the words of the buffer from ``first`` to the end of its gold sentence.
    open_start: ``first`` may still start a sentence."""
    cdef int end = gold.n
    if not s.system.single_root or first >= gold.n:
        return 0
    if s.system.segment:
        end = gold.next_start[first + 1]
        if open_start and gold.sent_start[first] != 0:
            bottom_root = False
    return max(0, bottom_root + gold.n_roots[end] - gold.n_roots[first] - 1)


cdef int more_surplus_roots(
    const StateC* s, const GoldC* gold, bint bottom_root, int first, bint open_start
) noexcept nogil:
    """How many more surplus roots there are with these arguments than there are now."""
    if not s.system.single_root or s.end < s.n or s.b >= s.n:
        return 0
    return surplus_roots(s, gold, bottom_root, first, open_start) - surplus_roots(
        s, gold, bottom_is_root(s, gold), s.b, may_break(s)
    )


cdef int push_roots(const StateC* s, const GoldC* gold) noexcept nogil:
    """Surplus roots that a push of B0 adds."""
    cdef int b0 = s.b
    cdef int end = gold.n
    cdef bint bottom_root
    cdef int before
    if not s.system.single_root or s.end < s.n or b0 >= s.n:
        return 0
    if s.system.segment:
        end = gold.next_start[b0 + 1]
    bottom_root = bottom_is_root(s, gold) if s.n_stack else gold.head[b0] == s.n
    before = surplus_roots(s, gold, bottom_is_root(s, gold), b0, may_break(s))
    if b0 + 1 < end:
        return surplus_roots(s, gold, bottom_root, b0 + 1, False) - before
    if end == gold.n or s.constraint[end] != -1:  # the gold sentence ends here, and so can ours
        return -before
    return (
        surplus_roots(s, gold, bottom_root, end, False)
        - surplus_roots(s, gold, False, end, False) - before
    )


cdef int all_surplus_roots(const StateC* s, const GoldC* gold) noexcept nogil:
    """Surplus roots of the current sentence and of those behind it."""
    cdef int first = s.end if s.end < s.n else s.b
    cdef int loss
    if not s.system.single_root:
        return 0
    if s.end < s.n:
        loss = surplus_roots(s, gold, False, first, False)
    else:
        loss = surplus_roots(s, gold, bottom_is_root(s, gold), first, may_break(s))
    if s.system.segment and first < s.n:
        first = gold.next_start[first + 1]
        while first < s.n:
            loss += surplus_roots(s, gold, False, first, False)
            first = gold.next_start[first + 1]
    return loss


cdef int start_errors(const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors in all starts that are made, missed, or forced to be."""
    cdef int loss = decided_starts(s, gold)
    cdef int w
    if not s.system.segment:
        return 0
    for w in range(s.start + 1, s.n):
        if w == s.end:
            loss += gold.sent_start[w] == (0 if s.sentence_start[w] else 1)
        elif w < s.b:
            loss += gold.sent_start[w] == 1
        elif w == s.b and w < s.end:
            loss += gold.sent_start[w] == 1 and not may_break(s)
            loss += gold.sent_start[w] == 0 and must_break(s)
        else:  # undecided
            loss += gold.sent_start[w] == 1 and s.constraint[w] == -1
            loss += gold.sent_start[w] == 0 and s.constraint[w] == 1
    return loss
