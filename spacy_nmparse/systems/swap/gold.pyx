"""The projective order of a gold tree, for the swap system; made once for each tree.

Heads that are not known are made up, so that nothing crosses that need not (plan.pyx).
"""
from libc.string cimport memset

from spacy_nmparse.systems.gold cimport new_tables
from spacy_nmparse.systems.state cimport NONE
from spacy_nmparse.systems.swap.plan cimport (
    N_PLAN_ARRAYS,
    PlanC,
    SwapC,
    make_order,
    make_room,
    make_tree,
    swap_tables,
)


cdef int derive_swap(GoldC* gold, const SystemC* system) except -1:
    """Give the gold tree the tables of SwapC, if it has none."""
    cdef size_t size = gold.n + 2
    cdef SwapC* t
    cdef int* ints
    cdef signed char* ends
    cdef PlanC p
    if swap_tables(gold) != NULL:
        return 0
    t = <SwapC*>new_tables(
        gold, <const void*>make_room,
        sizeof(SwapC) + (2 + N_PLAN_ARRAYS) * size * sizeof(int) + size,
    )
    ints = <int*>(t + 1)
    t.head = ints
    t.order = ints + size
    t.room = ints + 2 * size
    ends = <signed char*>(t.room + N_PLAN_ARRAYS * size)
    t.ends = ends
    make_room(t, gold.n, &p)
    plan_sentences(gold, &p, ints, ints + size, ends)
    return 0


cdef void plan_sentences(
    const GoldC* gold, PlanC* p, int* head, int* order, signed char* ends
) noexcept nogil:
    """Heads, projective order and ends, one sentence after the other."""
    cdef SystemC system
    cdef int n = gold.n
    cdef int first = 0
    cdef int e, i, w, far, roots, last_root
    memset(&system, 0, sizeof(SystemC))
    order[n] = 0
    head[n] = NONE
    while first < n:
        e = first + 1
        while e < n and gold.sent_start[e] != 1:
            e += 1
        p.size = e - first + 1
        p.unread = 1
        for i in range(p.size):
            p.seq[i] = first + i - 1 if i else n
            p.place[p.seq[i]] = i
        make_tree(&system, gold, False, p)
        make_order(p)
        last_root = first
        for w in range(first, e):
            head[w] = p.head[w]
            order[w] = first + p.order[w]
            if head[w] == n:
                last_root = w
        # Where a sentence may end, between two roots that nothing joins.
        ends[first] = first > 0
        far = NONE
        roots = 0
        for w in range(first, e):
            if roots and far < w <= last_root and gold.sent_start[w] == -1:
                ends[w] = 2
                roots = 0
            for i in range(p.block_start[p.place[w]], p.block_start[p.place[w] + 1]):
                far = max(far, p.blocks[i] if p.blocks[i] != w else NONE)
            if head[w] == n:
                roots += 1
            else:
                far = max(far, head[w])
        first = e
