"""Where sentences start and end: BREAK, what it costs, and roots.

Where gold tells all starts, it tells where each sentence ends. Where starts are unknown, the loss
of a configuration is the least over all places where its sentence may end. For one place it is the
sum of what the sentence loses (``inner``), the known starts that it misses, and the errors behind.
"""
from spacy_nmparse.systems.gold cimport last_child
from spacy_nmparse.systems.state cimport NONE, B
from spacy_nmparse.systems.views cimport height, is_fresh, is_headed, push_in_view, stack_item, view


# BREAK: (S, b0|B, A) => (S, [ROOT], A), a fresh configuration over b0|B to follow. The sentence has
# a word, and b0 has never been read and has no dependents yet.

cdef bint can_break(const StateC* s, int k) noexcept nogil:
    return may_break(s)


cdef void do_break(StateC* s, int k, int l, int push_label) noexcept nogil:
    s.end = s.b
    s.sentence_start[s.b] = 1


# The best end of a sentence.

cdef int least_rest(
    const StateC* s, const GoldC* gold, const ViewC* v, inner_t inner, bint end_attaches
) noexcept nogil:
    """Errors to come: in words on the stack and in the buffer, and in undecided starts.

    inner: what a sentence loses that ends before a word. end_attaches: the end can give heads to
    words of the sentence that have lost them, so that a later end is worth a look.
    """
    cdef int n = gold.n
    cdef int missed = 0
    cdef int far = NONE     # the last word with which one before e can still get an arc
    cdef int least = NONE
    cdef int i, e, w, loss
    if not s.system.segment:
        return inner(s, gold, v, n)
    if v.closed:
        return inner(s, gold, v, v.b) + errors_behind(s, gold, v.b)
    for i in range(height(v)):
        w = stack_item(s, v, i)
        if is_headed(s, v, i) and not s.system.nonmonotonic:
            far = max(far, last_child(gold, w))
        else:
            far = max(far, far_end(gold, w))
    for e in range(v.b, n):
        if may_end(s, gold, e) and not (e == v.b and v.has_left):
            if gold.sent_start[e] == 1 or far < e or end_attaches:
                loss = inner(s, gold, v, e) + missed
                loss += errors_behind(s, gold, e)
                least = loss if least == NONE else min(least, loss)
            if gold.sent_start[e] == 1 or far < e:
                return least
        missed += gold.sent_start[e] == 1 and not (e == v.b and is_fresh(s, v))
        far = max(far, far_end(gold, e))
    loss = inner(s, gold, v, n) + missed
    return loss if least == NONE else min(least, loss)


cdef int shift_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    """Errors to come after SHIFT, and its own, where ROOT is the last buffer item."""
    cdef ViewC v = view(s)
    if B(s, 0) == s.n:
        return s.system.rest(s, gold, &v)
    push_in_view(s, &v, False)
    return missed_start(s, gold) + s.system.rest(s, gold, &v)


cdef int break_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    """Errors to come after BREAK, and its own."""
    cdef ViewC v = view(s)
    v.closed = True
    return (gold.sent_start[s.b] == 0) + s.system.rest(s, gold, &v)


# Starts.

cdef int decided_starts(const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors in the starts of the sentences that are complete, and of the current one."""
    cdef int loss = 0
    cdef int w
    if s.system.segment:
        for w in range(1, min(s.start + 1, s.n)):
            loss += gold.sent_start[w] == (0 if s.sentence_start[w] else 1)
    return loss
