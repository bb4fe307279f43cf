"""Where sentences start and end: BREAK, what it costs, and roots.

A gold tree that tells all starts says where each sentence ends. Where starts are unknown, the loss
of a configuration is the least over the places where its sentence may end: what the sentence loses
then (``inner``), the known starts that it misses, and what is lost behind it.

With ``single_root``, only one of several gold roots of a sentence can be its root; the others are
surplus.
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


cdef int latest_end(const StateC* s, const GoldC* gold, int b, int far) noexcept nogil:
    """Where the sentence ends at the latest: at a gold start from b on, or at the first place that
    may be one and that no gold arc crosses any more. far: where those of words before b lead."""
    cdef int e
    for e in range(b, gold.n):
        if may_end(s, gold, e) and (gold.sent_start[e] == 1 or far < e):
            return e
        far = max(far, far_end(gold, e))
    return gold.n


# Roots.

cdef int surplus_behind(const GoldC* gold, int e) noexcept nogil:
    """single_root: gold roots from e on but one in each sentence, when a sentence starts at e.
    Unlike ``gold.surplus_from`` it leaves out the arcs that are lost by that, which may cross."""
    cdef int far = NONE
    cdef int surplus = 0
    cdef int roots = 0
    cdef int w
    if not gold.unknown_starts:
        return gold.surplus_from[e]
    for w in range(e, gold.n):
        if w > e and far < w and gold.sent_start[w] != 0:
            surplus += max(0, roots - 1)
            roots = 0
            if gold.sent_start[w] == 1:
                return surplus + gold.surplus_from[w]
        roots += gold.head[w] == gold.n
        far = max(far, far_end(gold, w))
    return surplus + max(0, roots - 1)


cdef int surplus_roots(
    const StateC* s, const GoldC* gold, bint bottom_root, int first, bint open_start
) noexcept nogil:
    """Gold roots that lose ROOT to another one of their sentence, counting as candidates the bottom
    of the stack and the buffer from word ``first`` to the end of its gold sentence. open_start:
    ``first`` may still start a sentence."""
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


# Starts.

cdef int decided_starts(const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors in the starts of the sentences that are complete, and of the current one."""
    cdef int loss = 0
    cdef int w
    if s.system.segment:
        for w in range(1, min(s.start + 1, s.n)):
            loss += gold.sent_start[w] == (0 if s.sentence_start[w] else 1)
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
