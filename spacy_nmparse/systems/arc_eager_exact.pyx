"""The exact loss of any arc-eager configuration, and costs as its differences.

The errors still to come from a configuration on a projective gold tree: the sentence ends before
some word e; ``inner`` counts the words on the stack and in the buffer up to e that lose their gold
head, ``gold.lost_from`` and ``gold.surplus_from`` those behind e. With single_root, only one of
several gold roots that could still be one is kept. With single_root, but without a non-monotonic
REDUCE, the forced REDUCEs at the end of a sentence attach headless words to the words beneath: a
word may be kept on the stack for that, which keeps all beneath it there too.
"""
from spacy_nmparse.systems.gold cimport children_from
from spacy_nmparse.systems.state cimport NONE, B, S
from spacy_nmparse.systems.system cimport BREAK, LEFT_ARC, REDUCE, SHIFT


cdef inline int place(const StateC* s, const ViewC* v, int w) noexcept nogil:
    """Where word w is on the view's stack, or NONE."""
    if w == v.pushed:
        return v.n_stack
    return s.position[w] if s.position[w] < v.n_stack else NONE


cdef inline int item(const StateC* s, const ViewC* v, int i) noexcept nogil:
    return s.stack[i] if i < v.n_stack else v.pushed


cdef inline int height(const ViewC* v) noexcept nogil:
    return v.n_stack + (v.pushed != NONE)


cdef inline bint is_headed(const StateC* s, const ViewC* v, int w) noexcept nogil:
    return v.headed if w == v.pushed else s.head[w] != NONE


cdef inline bint label_is_right(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int w
) noexcept nogil:
    """Of the arc into w from the item beneath it, built or to be built by REDUCE."""
    cdef int label
    if gold.label[w] == NONE:
        return True
    if w == v.pushed:
        label = v.label
    else:
        label = s.label[w] if s.head[w] != NONE else s.push_label[w]
    return label == gold.label[w] or (system.labelled_reduce and not is_headed(s, v, w))


cdef bint lost_if_popped(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int i, int e
) noexcept nogil:
    """Whether stack item i loses its gold head, when it leaves the stack before the end."""
    cdef int w = item(s, v, i)
    cdef int g = gold.head[w]
    cdef bint headed = is_headed(s, v, w)
    if g == NONE:
        return False
    if not headed or system.nonmonotonic_left:
        if (v.b <= g < e) or (g == gold.n and (i == 0 or not system.single_root)):
            return False
    return not (
        i > 0 and g == item(s, v, i - 1) and (headed or system.nonmonotonic_reduce)
        and label_is_right(system, s, gold, v, w)
    )


cdef inline bint lost_if_kept(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int i
) noexcept nogil:
    """The same when it stays there to the end, under single_root."""
    cdef int w = item(s, v, i)
    cdef int g = gold.head[w]
    if g == NONE:
        return False
    if i == 0:
        return g != gold.n
    return g != item(s, v, i - 1) or not label_is_right(system, s, gold, v, w)


cdef int inner(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int e
) noexcept nogil:
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
    if not system.single_root or system.nonmonotonic_reduce:
        for i in range(size):
            loss += lost_if_popped(system, s, gold, v, i, e)
        if system.single_root:
            roots += size > 0 and gold.head[item(s, v, 0)] == n
            loss += max(0, roots - 1)
        return loss
    # Item 0 .. i stay to the end, the others do not; i = -1: none does.
    loss += max(0, roots - 1)
    for i in range(size):
        w = item(s, v, i)
        # lost_if_popped takes the bottom of the stack for a possible root: here it is not one.
        loss += lost_if_popped(system, s, gold, v, i, e) or (i == 0 and gold.head[w] == n)
    least = loss
    for i in range(size):
        w = item(s, v, i)
        loss += lost_if_kept(system, s, gold, v, i)
        loss -= lost_if_popped(system, s, gold, v, i, e) or (i == 0 and gold.head[w] == n)
        if i == 0:
            loss += roots - max(0, roots - 1)
        else:
            w = item(s, v, i - 1)
            loss += children_from(gold, w, v.b) - children_from(gold, w, e)
        least = min(least, loss)
    return loss if e == v.b else least


cdef int behind(const SystemC* system, const GoldC* gold, int e) noexcept nogil:
    """Errors from e on, when a sentence starts there."""
    return gold.lost_from[e] + (gold.surplus_from[e] if system.single_root else 0)


cdef int last_child(const GoldC* gold, int w) noexcept nogil:
    """The last gold dependent of w, or NONE."""
    cdef int end = gold.child_offset[w + 1]
    return gold.children[end - 1] if end > gold.child_offset[w] else NONE


cdef int rest(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v
) noexcept nogil:
    """Errors to come."""
    cdef int n = gold.n
    cdef int missed = 0
    cdef int far = NONE
    cdef int least = NONE
    cdef int i, w, e, g, loss
    cdef bint allowed
    if not system.segment:
        return inner(system, s, gold, v, n)
    if v.closed:
        return inner(system, s, gold, v, v.b) + behind(system, gold, v.b)
    # far: the last buffer word that has an arc, still to be had, with a word before e.
    for i in range(height(v)):
        w = item(s, v, i)
        far = max(far, last_child(gold, w))
        g = gold.head[w]
        if g != NONE and g < n and (not is_headed(s, v, w) or system.nonmonotonic_left):
            far = max(far, g)
    for e in range(v.b, n):
        allowed = s.constraint[e] != -1
        if e == v.b:
            allowed = allowed and height(v) > 0 and not v.has_left
        if allowed and gold.sent_start[e] != 0:
            if gold.sent_start[e] == 1 or far < e or not system.nonmonotonic_reduce:
                loss = inner(system, s, gold, v, e) + missed + behind(system, gold, e)
                least = loss if least == NONE else min(least, loss)
            if gold.sent_start[e] == 1 or far < e:
                return least
        if gold.sent_start[e] == 1 and e > 0 and not (e == v.b and v.fresh):
            missed += 1
        far = max(far, last_child(gold, e))
        g = gold.head[e]
        if g != NONE and g < n and g > e:
            far = max(far, g)
    loss = inner(system, s, gold, v, n) + missed
    return loss if least == NONE else min(least, loss)


cdef ViewC view(const StateC* s) noexcept nogil:
    cdef ViewC v
    v.n_stack = s.n_stack
    v.pushed = NONE
    v.headed = False
    v.label = NONE
    v.b = s.b
    v.closed = s.end < s.n
    v.has_left = s.b < s.n and s.n_left[s.b] > 0
    v.fresh = s.b == s.start and not v.has_left
    return v


cdef int exact_rest(const SystemC* system, const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors to come from s: in words on the stack and in the buffer, and undecided starts."""
    cdef ViewC v = view(s)
    if B(s, 0) == NONE:
        return 0
    return rest(system, s, gold, &v)


cdef int exact_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int move, int label, int push_label
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
        v.n_stack -= 1
        head = b0
        if move == LEFT_ARC:
            v.fresh = False
            v.has_left = True
        elif s.head[s0] != NONE:
            head = s.head[s0]
            label = s.label[s0]
        else:
            head = S(s, 1)
            if not system.labelled_reduce:
                label = s.push_label[s0]
        if gold.head[s0] != NONE:
            cost += gold.head[s0] != head or (gold.label[s0] != NONE and gold.label[s0] != label)
    else:
        v.pushed = b0
        v.headed = move != SHIFT
        v.label = push_label if move == SHIFT else label
        v.b = b0 + 1
        v.has_left = False
        v.fresh = False
        cost += system.segment and not before.fresh and gold.sent_start[b0] == 1
    return cost + rest(system, s, gold, &v) - rest(system, s, gold, &before)
