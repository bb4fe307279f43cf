# Nothing of this module can be imported from Python; see stretches.pxd.
"""Stretches of text in which gold arcs cross, and the tables of what is lost there.

A stretch is what lies between two known sentence starts; without ``segment``, the whole text. Where
no arcs cross in it, formulas are exact, and nothing is tabulated. Where some do, tables hold the
least number of errors in every part of the stretch; they are filled once for a gold tree. With them
``leaving.pyx`` and ``growing.pyx`` tell what a configuration loses, for each place where its
sentence may end. Two kinds of places are left out, since they never lose less than others: beyond a
known start (to end at that start is as good), and where gold is known to have no start (to go on is
as good).
"""
from spacy_nmparse.lab.crossing.growing cimport fill_growing, growing_losses
from spacy_nmparse.lab.crossing.leaving cimport fill_leaving, leaving_losses
from spacy_nmparse.lab.crossing.spans cimport FREE, INFINITY, LOST, MAX_WORDS, SpanC
from spacy_nmparse.systems.errors cimport can_be_right
from spacy_nmparse.systems.gold cimport TablesC, last_child, new_tables
from spacy_nmparse.systems.state cimport NONE
from spacy_nmparse.systems.views cimport is_fresh


cdef inline int table_size(int size) noexcept nogil:
    return 4 * (size + 1) * (size + 1)


cdef int stretch_end(const SystemC* system, const GoldC* gold, int first) noexcept nogil:
    cdef int e = first + 1
    if not system.segment:
        return gold.n
    while e < gold.n and gold.sent_start[e] != 1:
        e += 1
    return e


cdef bint crosses(const GoldC* gold, int first, int end) noexcept nogil:
    """Whether no projective tree has all gold arcs of the stretch: an arc crosses another one, or
    spans a child of ROOT, or a word without a known head that is above the arc."""
    cdef int w, x, low, high
    if end - first > MAX_WORDS:
        return False
    for w in range(first, end):
        low = min(w, gold.head[w])
        high = max(w, gold.head[w])
        if low == NONE or high == gold.n:
            continue
        for x in range(low + 1, high):
            if gold.head[x] != NONE and not low <= gold.head[x] <= high:
                return True
            if gold.child_offset[x] < gold.child_offset[x + 1] and (
                gold.children[gold.child_offset[x]] < low or last_child(gold, x) > high
            ):
                return True
        x = w
        while x != gold.n and gold.head[x] != NONE:
            x = gold.head[x]
        if low < x < high:
            return True
    return False


cdef inline int head_of(const SystemC* system, const GoldC* gold, int w) noexcept nogil:
    """The gold head of a word, FREE or LOST."""
    if gold.head[w] == NONE:
        return FREE
    return gold.head[w] if can_be_right(system, gold, w) else LOST


cdef const CrossingC* crossing_of(
    const GoldC* gold, const SystemC* system, const FormC* form
) noexcept nogil:
    """The tables of the gold tree for this system, made when they are asked for first; NULL: no
    arcs cross, or there is no memory."""
    cdef const TablesC* tables = gold.tables
    cdef const CrossingC* c
    cdef int w
    while tables != NULL:
        c = <const CrossingC*>(tables + 1)
        if tables.owner == <const void*>crossing_of and c.form == form and (
            c.segment == system.segment and c.single_root == system.single_root
        ):
            for w in range(gold.n):
                if c.head[w] != head_of(system, gold, w):
                    break
            else:
                return c
        tables = tables.next
    with gil:
        try:
            return make_tables(<GoldC*>gold, system, form)
        except MemoryError:
            return NULL


cdef const CrossingC* make_tables(
    GoldC* gold, const SystemC* system, const FormC* form
) except? NULL:
    cdef CrossingC* c
    cdef int n = gold.n
    cdef size_t numbers = 0
    cdef size_t longest = 0
    cdef int first = 0
    cdef int end
    while first < n:
        end = stretch_end(system, gold, first)
        if crosses(gold, first, end):
            numbers += table_size(end - first)
            longest = max(longest, <size_t>(end - first))
        first = end
    if form.leave is not NULL:
        longest = 0
    c = <CrossingC*>new_tables(
        gold, <const void*>crossing_of,
        sizeof(CrossingC) + ((8 + longest) * n + 1) * sizeof(int) + numbers * sizeof(short),
    )
    c.form = form
    c.segment = system.segment
    c.single_root = system.single_root
    c.head = <int*>(c + 1)
    c.first = c.head + n
    c.size = c.first + n
    c.table = c.size + n
    c.behind = c.table + n
    c.room = c.behind + n + 1
    c.tables = <short*>(c.room + (longest + 3) * n)
    lay_out(system, gold, c)
    for first in range(n - 1, -1, -1):
        if first == 0 or (system.segment and gold.sent_start[first] == 1):
            if c.size[first]:
                fill_stretch(system, gold, c, first)
            else:
                count_stretch(system, gold, c, first)
    return c


cdef void lay_out(const SystemC* system, const GoldC* gold, CrossingC* c) noexcept nogil:
    cdef int used = 0
    cdef int first = 0
    cdef int end, w
    for w in range(gold.n):
        c.head[w] = head_of(system, gold, w)
    while first < gold.n:
        end = stretch_end(system, gold, first)
        if crosses(gold, first, end):
            for w in range(first, end):
                c.first[w] = first
                c.size[w] = end - first
                c.table[w] = used
            used += table_size(end - first)
        first = end


cdef inline void span_at(const CrossingC* c, int w, SpanC* span) noexcept nogil:
    """The stretch that word w is in."""
    span.form = c.form
    span.first = c.first[w]
    span.size = c.size[w]
    span.head = c.head
    span.room = c.room
    span.tables = c.tables + c.table[w]


cdef void count_stretch(
    const SystemC* system, const GoldC* gold, CrossingC* c, int first
) noexcept nogil:
    """The losses behind each word of a stretch where no arcs cross."""
    cdef int end = stretch_end(system, gold, first)
    cdef int w
    for w in range(first, end):
        c.behind[w] = gold.lost_from[w] + c.behind[end]
        if system.single_root:
            c.behind[w] += gold.surplus_from[w] - gold.surplus_from[end]


cdef void fill_stretch(
    const SystemC* system, const GoldC* gold, CrossingC* c, int first
) noexcept nogil:
    """The tables of a stretch, and what is behind each of its words."""
    cdef int[MAX_WORDS + 1] losses
    cdef SpanC span
    cdef StateC empty   # the view has nothing of it but the system
    cdef ViewC v
    cdef int e, b
    empty.system = system
    span_at(c, first, &span)
    for e in range(span.size + 1):
        span.may_end[e] = e == span.size or (system.segment and gold.sent_start[first + e] == NONE)
    if c.form.leave is NULL:
        fill_growing(system, gold, &span)
    else:
        fill_leaving(system, gold, &span)
    if not system.segment:
        return
    v.below = 0
    v.top = NONE
    v.headed = False
    v.has_left = False
    v.closed = False
    for b in range(span.size - 1, -1, -1):
        v.b = first + b
        span.may_end[b] = False
        c.behind[v.b] = INFINITY
        losses_of(&empty, gold, &span, &v, losses)
        span.may_end[b] = gold.sent_start[v.b] == NONE
        for e in range(b + 1, span.size + 1):
            if span.may_end[e]:
                c.behind[v.b] = min(c.behind[v.b], losses[e] + c.behind[first + e])


cdef inline void losses_of(
    const StateC* s, const GoldC* gold, const SpanC* span, const ViewC* v, int* losses
) noexcept nogil:
    """The loss of the sentence from here on if it ends before the word at place e."""
    if span.form.leave is NULL:
        growing_losses(s, gold, span, v, losses)
    else:
        leaving_losses(s, gold, span, v, losses)


cdef int rest_of_stretch(
    const StateC* s, const GoldC* gold, const CrossingC* c, const ViewC* v
) noexcept nogil:
    """Errors to come where arcs cross in the stretch of the next word: in words on the stack and in
    the buffer, and in undecided starts."""
    cdef int[MAX_WORDS + 1] losses
    cdef SpanC span
    cdef int least = INFINITY
    cdef int b, e, w
    span_at(c, v.b, &span)
    b = v.b - span.first
    for e in range(b, span.size + 1):
        w = span.first + e
        span.may_end[e] = e == span.size or (
            s.system.segment and gold.sent_start[w] != 0 and s.constraint[w] != -1 and w > s.start
            and not (e == b and v.has_left)
        )
    losses_of(s, gold, &span, v, losses)
    for e in range(b, span.size + 1):
        if span.may_end[e] and losses[e] < INFINITY:
            least = min(least, losses[e] + c.behind[span.first + e])
            if e == 0:  # a known start
                return least
    return least + (b == 0 and gold.sent_start[v.b] == 1 and not is_fresh(s, v))
