"""The loss of non-monotonic list systems: two guesses about arcs that will be deleted.

No exact form is known of this loss. It is taken to be that of the monotonic systems without the
cycles, with every word free to get another head, and with these guesses; docs/systems.md tells how
often it errs.
"""
from spacy_nmparse.systems.gold cimport last_child
from spacy_nmparse.systems.covington.views cimport (
    head_of,
    in_lambda1,
    is_pending,
    is_right,
    root_is_near,
)
from spacy_nmparse.systems.state cimport NONE


cdef bint may_be_freed(
    const StateC* s, const GoldC* gold, const ListViewC* v, int w, int e
) noexcept nogil:
    """Whether the arc into w will likely go, for nothing: a cycle through it must be
    closed by an arc w -> y, where y is above w, and no right arc into y is replaced."""
    cdef int j = v.b
    cdef int y = w
    cdef int g, child
    if j >= e:
        return False
    while True:
        y = head_of(s, v, y)
        if y == NONE or y == s.n:
            return False
        if w == j:
            if in_lambda1(s, v, y) and not is_right(s, gold, v, y):
                return True
            continue
        g = gold.head[j]
        if y == j and in_lambda1(s, v, w):
            if g == s.n and root_is_near(s, v, j):
                return True
            if not is_right(s, gold, v, j) and (g <= w or g > j or not in_lambda1(s, v, g)):
                return True  # by w -> j: j's gold arc comes later, or never
        if y > w and not is_right(s, gold, v, y):
            child = last_child(gold, w)
            if is_pending(s, gold, v, y, e) and gold.head[y] < child:
                continue
            if child > j or (child == j and in_lambda1(s, v, y) and in_lambda1(s, v, w)):
                return True  # by child -> y, then w -> child


cdef int n_cut(const StateC* s, const GoldC* gold, const ListViewC* v, int e) noexcept nogil:
    """Right arcs that the pending arcs of j, built from the right, will cut: those
    into h, where h -> d closes a cycle that none of the arcs before has broken."""
    cdef int j = v.b
    cdef int cut = 0
    cdef int m, i, h, d, x
    if j >= e:
        return 0
    for m in range(1, v.n_lambda1 - s.root_first + 1):
        i = v.start + v.n_lambda1 - s.root_first - m
        if gold.head[i] == j:
            h, d = j, i
        elif gold.head[j] == i:
            h, d = i, j
        else:
            continue
        if not is_pending(s, gold, v, d, e) or head_of(s, v, h) != gold.head[h]:
            continue
        x = h
        while x != NONE and x != s.n and x != d:
            if is_pending(s, gold, v, x, e) and max(x, gold.head[x]) == j and (
                min(x, gold.head[x]) > i
            ):
                break
            x = head_of(s, v, x)
        cut += x == d
    return cut
