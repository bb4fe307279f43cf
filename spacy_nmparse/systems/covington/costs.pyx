"""All costs of a configuration of a list system at once, in linear time.

What an arc move adds to the loss follows from the pending arcs that it drops, and by the cycles
that it cuts and closes.
"""
from spacy_nmparse.systems.covington.lists cimport N_LAMBDA1, item, marks, n_items
from spacy_nmparse.systems.covington.loss cimport (
    behind,
    fresh_marks,
    list_inner,
    missed_starts,
    list_rest,
    sentence_end,
)
from spacy_nmparse.systems.covington.views cimport (
    ListViewC,
    is_pending,
    label_is_right,
    list_view,
    root_is_open,
)
from spacy_nmparse.systems.errors cimport label_fits
from spacy_nmparse.systems.headless cimport treetop
from spacy_nmparse.systems.state cimport NONE, UNKNOWN_LABEL, is_above, root_child
from spacy_nmparse.systems.table cimport BREAK, LEFT_ARC, NO_ARC, SHIFT


cdef enum:
    FROM_J = 1      # marks of a treetop: the path of pending arcs from j's tree leads here
    ON_CYCLE = 2    # it lies on a cycle, and j's tree does not
    ENTRY = 4       # from here on: 1 + the treetop on the path from here that leads to j's tree


cdef inline int lambda1_place(const StateC* s, int w) noexcept nogil:
    """The k of a word in lambda1; <= 0: it is in lambda2."""
    return s.numbers[N_LAMBDA1] - s.system.explicit_root - (w - s.start)


cdef void mark_paths(const StateC* s, const GoldC* gold, const ListViewC* v, int e) noexcept nogil:
    """Mark the treetops up to j in s.entry: where the paths of pending arcs through them lead."""
    cdef int* mark = marks(s)
    cdef int tj = treetop(s, s.b)
    cdef int first = fresh_marks(s)
    cdef int walk = first - 1
    cdef int w, top, last, following, entry
    for w in range(s.start, s.b + 1):
        if s.head[w] != NONE or mark[w] >= first:
            continue
        walk += 1
        top = w
        entry = 0
        while True:
            mark[top] = walk
            s.entry[top] = 0
            last = top
            if not is_pending(s, gold, v, top, e):
                break
            following = treetop(s, gold.head[top])
            if following == tj:
                entry = (1 + top) * ENTRY
                break
            if mark[following] >= first:
                if mark[following] < walk:
                    entry = s.entry[following] // ENTRY * ENTRY
                    break
                top = following
                while not s.entry[top] & ON_CYCLE:
                    s.entry[top] |= ON_CYCLE
                    top = treetop(s, gold.head[top])
                break
            top = following
        top = w
        while True:
            s.entry[top] |= entry
            if top == last:
                break
            top = treetop(s, gold.head[top])
    mark[s.n] = walk
    top = tj
    if s.head[tj] != NONE:
        s.entry[tj] = 0
    while is_pending(s, gold, v, top, e):
        top = treetop(s, gold.head[top])
        if top == tj or s.entry[top] & FROM_J:
            break
        s.entry[top] |= FROM_J


cdef inline bint is_cut(const StateC* s, const GoldC* gold, int x, int k) noexcept nogil:
    """Whether x's pending arc is one from j, lost when items 1 .. k leave lambda1."""
    return gold.head[x] == s.b and 0 < lambda1_place(s, x) <= k


cdef int cycles_closed(
    const StateC* s, const GoldC* gold, int k, bint left, int place_j
) noexcept nogil:
    """Cycles that the arc between j and i_k closes, less those that the move cuts. See mark_paths.
    left: it is LEFT-ARC's. place_j: of j's gold head, if that arc is pending and in lambda1."""
    cdef int i = item(s, k)
    cdef int around = s.entry[treetop(s, s.b)] // ENTRY - 1
    cdef bint kept = not 0 < place_j <= k
    cdef int entry = NONE
    cdef bint leads
    if left:
        leads = (s.entry[i] & FROM_J) != 0
        return (
            (leads and kept) - ((s.entry[i] & ON_CYCLE) != 0)
            - (around != NONE and (leads or not kept or is_cut(s, gold, around, k - 1)))
        )
    if i != s.n and s.head[treetop(s, i)] == NONE:
        entry = s.entry[treetop(s, i)] // ENTRY - 1
    return (entry != NONE and not is_cut(s, gold, entry, k)) - (around != NONE)


cdef inline int n_open_roots(
    const StateC* s, const GoldC* gold, const ListViewC* v, int e, bint taken
) noexcept nogil:
    """Gold roots up to e that are children of ROOT, or can be."""
    cdef int w
    cdef int roots = 0
    for w in range(v.start, e):
        if gold.head[w] == s.n:
            if s.head[w] == NONE:
                roots += root_is_open(s, gold, v, w, taken)
            elif s.head[w] == s.n:
                roots += label_is_right(s, gold, v, w)
    return roots


# One by one.

cdef inline ListViewC with_arc(
    const StateC* s, int k, int head, int dependent, int label
) noexcept nogil:
    """The configuration after an arc move."""
    cdef ListViewC v = list_view(s)
    v.n_lambda1 -= k
    v.head = head
    v.dependent = dependent
    v.label = label
    if s.system.nonmonotonic and is_above(s, dependent, head):
        v.freed = head
    return v


cdef int one_cost(
    const StateC* s, const GoldC* gold, int move, int k, int label
) noexcept nogil:
    """The loss after the move less the loss before."""
    cdef ListViewC before = list_view(s)
    cdef ListViewC v = before
    cdef int name = s.system.moves[move].name
    cdef int after
    if name == BREAK:
        after = list_inner(s, gold, &v, s.b) + missed_starts(gold, &v)
        after += behind(s.system, gold, s.b) + (gold.sent_start[s.b] == 0)
        return after - list_rest(s, gold, &before)
    if name == SHIFT:
        v.b += 1
        v.n_lambda1 = n_items(s) + 1
    elif name == NO_ARC:
        v.n_lambda1 -= 1
    elif name == LEFT_ARC:
        v = with_arc(s, k, s.b, item(s, k), label)
    else:
        v = with_arc(s, k, item(s, k), s.b, label)
    return list_rest(s, gold, &v) - list_rest(s, gold, &before)


cdef void costs_by_views(
    const StateC* s, const GoldC* gold, CandidateC* candidates, int n
) noexcept nogil:
    """cost and cost_other of each candidate: each looks at the whole sentence."""
    cdef int i, label
    cdef CandidateC* c
    for i in range(n):
        c = &candidates[i]
        c.cost_other = one_cost(s, gold, c.move, c.k, UNKNOWN_LABEL)
        c.cost = c.cost_other
        label = NONE if c.dependent == NONE else gold.label[c.dependent]
        if label != NONE and label_fits(s.system, c.head == s.n, label):
            c.cost = one_cost(s, gold, c.move, c.k, label)


# All at once.

cdef struct ArcsC:      # what all arcs with j have in common
    ListViewC v         # the configuration, once j has been compared with a word
    int e               # where its sentence ends
    int base            # what that comparison costs
    bint taken          # single_root, and ROOT has a child
    int roots           # single_root: words that can still become the child of ROOT they should be
    int place_j         # of j's gold head, if that arc is pending and in lambda1; else 0


cdef inline ArcsC arcs_with_j(const StateC* s, const GoldC* gold) noexcept nogil:
    cdef ListViewC before = list_view(s)
    cdef int j = s.b
    cdef ArcsC a
    a.v = before
    a.v.touched = True
    a.e = sentence_end(s, gold, &a.v)
    a.base = list_rest(s, gold, &a.v) - list_rest(s, gold, &before)
    mark_paths(s, gold, &a.v, a.e)
    a.taken = s.system.single_root and root_child(s) != NONE
    a.roots = n_open_roots(s, gold, &a.v, a.e, a.taken) if s.system.single_root else 0
    a.place_j = 0
    if gold.head[j] != NONE and gold.head[j] < j and is_pending(s, gold, &a.v, j, a.e):
        a.place_j = lambda1_place(s, gold.head[j])
    return a


cdef inline int arc_cost(
    const StateC* s, const GoldC* gold, const ArcsC* a, int k, int h, int d
) noexcept nogil:
    """What the arc from h to d, one of them j and the other i_k, costs besides ``base``, without
    its label: d's gold head; ROOT, if it could be had; the arc the other way round; and cycles."""
    cdef bint left = d != s.b
    cdef int g = gold.head[d]
    cdef int cost = 0
    if left:
        cost += k == a.place_j
    elif h != s.n:
        cost += gold.head[h] == s.b and s.head[h] == NONE
    if g == s.n and h != s.n:
        if root_is_open(s, gold, &a.v, d, a.taken):
            cost += not s.system.single_root or a.roots < 2
    elif g != h:
        if left or a.place_j == 0 or a.place_j > k:
            cost += is_pending(s, gold, &a.v, d, a.e)
        cost += h == s.n and s.system.single_root and a.roots > 0
    return cost + cycles_closed(s, gold, k, left, a.place_j)


cdef void list_costs(
    const StateC* s, const GoldC* gold, int push_label, bint exact, CandidateC* candidates, int n
) noexcept nogil:
    """cost and cost_other of each candidate."""
    cdef ArcsC a
    cdef int j = s.b
    cdef int lost = 0       # pending arcs between j and i_1 .. i_m
    cdef int m = 0
    cdef bint ready = False
    cdef int number, i
    cdef CandidateC* c
    if s.system.nonmonotonic or j >= s.n or (
        s.system.single_root and s.system.segment and gold.unknown_starts
    ):
        costs_by_views(s, gold, candidates, n)
        return
    for number in range(n):
        c = &candidates[number]
        if c.dependent == NONE:
            c.cost = one_cost(s, gold, c.move, c.k, NONE)
            c.cost_other = c.cost
            continue
        if not ready:
            ready = True
            a = arcs_with_j(s, gold)
        if m >= c.k:  # RIGHT-ARCs begin
            m = 0
            lost = 0
        while m < c.k - 1:
            m += 1
            i = item(s, m)
            lost += (gold.head[i] == j and s.head[i] == NONE) + (m == a.place_j)
        c.cost = a.base + lost + arc_cost(s, gold, &a, c.k, c.head, c.dependent)
        c.cost_other = c.cost + (
            gold.head[c.dependent] == c.head and gold.label[c.dependent] != NONE
        )
        if not label_fits(s.system, c.head == s.n, gold.label[c.dependent]):
            c.cost = c.cost_other
