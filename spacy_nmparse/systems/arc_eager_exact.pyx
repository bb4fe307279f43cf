"""The exact loss of any arc-eager configuration, and costs as its differences.

The errors to come on a projective gold tree are counted for each word e before which the sentence
may end: ``eager_inner`` counts the words on the stack and in the buffer up to e that lose their
gold head, and ``gold.lost_from`` and ``gold.surplus_from`` count those from e on. With single_root,
only one of the gold roots that are still possible is kept. With single_root and without a
non-monotonic REDUCE, the forced REDUCEs at the end of a sentence attach headless words to the words
beneath them. So it can pay to keep a word on the stack until then, and with it all words beneath.
"""
from spacy_nmparse.systems.arc_eager_options cimport eager
from spacy_nmparse.systems.errors cimport arc_error, label_ok
from spacy_nmparse.systems.gold cimport children_from
from spacy_nmparse.systems.sentences cimport decided_starts, least_rest
from spacy_nmparse.systems.state cimport NONE, B, S
from spacy_nmparse.systems.table cimport BREAK, LEFT_ARC, REDUCE, SHIFT
from spacy_nmparse.systems.views cimport (
    height,
    is_fresh,
    is_headed,
    place,
    stack_item,
    view,
)


cdef bint lost_if_popped(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int e
) noexcept nogil:
    """Whether stack item i loses its gold head, when it leaves the stack before the end."""
    cdef int w = stack_item(s, v, i)
    cdef int g = gold.head[w]
    cdef bint headed = is_headed(s, v, i)
    if g == NONE:
        return False
    if not headed or s.system.nonmonotonic:
        if (v.b <= g < e) or (g == gold.n and (i == 0 or not s.system.single_root)):
            return False
    return not (
        i > 0 and g == stack_item(s, v, i - 1) and (headed or eager(s).nonmonotonic_reduce)
        and label_is_right(s, gold, v, w)
    )


cdef inline bint lost_if_kept(
    const StateC* s, const GoldC* gold, const ViewC* v, int i
) noexcept nogil:
    """The same when it stays there to the end, under single_root."""
    cdef int w = stack_item(s, v, i)
    cdef int g = gold.head[w]
    if g == NONE:
        return False
    if i == 0:
        return g != gold.n
    return g != stack_item(s, v, i - 1) or not label_is_right(s, gold, v, w)


cdef int eager_inner(const StateC* s, const GoldC* gold, const ViewC* v, int e) noexcept nogil:
    """Words on the stack and from b to e that lose their gold head when the sentence ends at e."""
    cdef int n = gold.n
    cdef int size = height(v)
    cdef int loss = 0
    cdef int roots = 0
    cdef int i, w, g, least
    for w in range(v.b, e):
        g = gold.head[w]
        if g == n:
            roots += 1
        elif g != NONE and not v.b <= g < e and place(s, v, g) == NONE:
            loss += 1
    if not s.system.single_root or eager(s).nonmonotonic_reduce:
        for i in range(size):
            loss += lost_if_popped(s, gold, v, i, e)
        if s.system.single_root:
            roots += size > 0 and gold.head[stack_item(s, v, 0)] == n
            loss += max(0, roots - 1)
        return loss
    # Item 0 .. i stay to the end, the others do not; i = -1: none does.
    loss += max(0, roots - 1)
    for i in range(size):
        w = stack_item(s, v, i)
        # lost_if_popped takes the bottom of the stack for a possible root: here it is not one.
        loss += lost_if_popped(s, gold, v, i, e) or (i == 0 and gold.head[w] == n)
    least = loss
    for i in range(size):
        w = stack_item(s, v, i)
        loss += lost_if_kept(s, gold, v, i)
        loss -= lost_if_popped(s, gold, v, i, e) or (i == 0 and gold.head[w] == n)
        if i == 0:
            loss += roots - max(0, roots - 1)
        else:
            w = stack_item(s, v, i - 1)
            loss += children_from(gold, w, v.b) - children_from(gold, w, e)
        least = min(least, loss)
    return loss if e == v.b else least


cdef int eager_rest(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil:
    """Errors to come."""
    return least_rest(s, gold, v, eager_inner, not eager(s).nonmonotonic_reduce)


cdef int exact_loss(const StateC* s, const GoldC* gold) noexcept nogil:
    cdef ViewC v = view(s)
    cdef int loss = decided_starts(s, gold)
    cdef int w
    for w in range(s.b):
        if s.position[w] == NONE and gold.head[w] != NONE:
            loss += s.head[w] != gold.head[w] or not label_ok(gold, w, s.label[w])
        if s.system.segment and w > s.start:
            loss += gold.sent_start[w] == 1
    if s.system.segment and s.start < s.end < s.n:
        loss += gold.sent_start[s.end] == 0
    return loss if B(s, 0) == NONE else loss + eager_rest(s, gold, &v)


cdef int exact_cost(
    const StateC* s, const GoldC* gold, int move, int label, int push_label
) noexcept nogil:
    """Cost of SHIFT, RIGHT-ARC, LEFT-ARC, REDUCE or BREAK, as the difference of two losses."""
    cdef ViewC before = view(s)
    cdef ViewC v = before
    cdef int b0 = B(s, 0)
    cdef int s0 = S(s, 0)
    cdef int cost = 0
    cdef int head
    if move == SHIFT and b0 == s.n:
        return 0
    if move == BREAK:
        v.closed = True
        cost += gold.sent_start[b0] == 0
    elif move == LEFT_ARC or move == REDUCE:
        v.below -= 1
        head = b0
        if move == LEFT_ARC:
            v.has_left = True
        elif s.head[s0] != NONE:
            head = s.head[s0]
            label = s.label[s0]
        else:
            head = S(s, 1)
            if not eager(s).labelled_reduce:
                label = s.push_label[s0]
        cost += arc_error(gold, head, s0, label)
    else:
        v.top = b0
        v.headed = move != SHIFT
        v.label = push_label if move == SHIFT else label
        v.b = b0 + 1
        v.has_left = False
        cost += s.system.segment and not is_fresh(s, &before) and gold.sent_start[b0] == 1
    return cost + eager_rest(s, gold, &v) - eager_rest(s, gold, &before)
