# Nothing of this module can be imported from Python; see leaving.pxd.
"""Losses where words leave the stack for the item beneath them or the front of the buffer.

In arc-eager, arc-hybrid and arc-swift, a word is pushed upon some item x, and leaves the stack when
some item y is at the front of the buffer. Its head is x or y, whichever moves lead there; all words
between it and y have come and gone meanwhile (Kuhlmann, Gómez-Rodríguez & Satta 2011). So with
k .. j-1 for the words from place k up to, and without, place j,

  INSIDE(k, j) = the fewest errors in k+1 .. j-1, from k on the top and k+1 at the front to k on the
                 top and j at the front:
                 the least over m of INSIDE(k, m) + INSIDE(m, j) + (m's error with head k or j)

and AT_END(k, e) is the same where the sentence ends before e and all of it is read; only ROOT is at
the front then. These tables are cubic, but do not depend on the configuration. From it, items leave
the stack one by one, the top first; while one of them is the top, words are pushed upon it and
leave. With losses[j], the fewest errors so far where j is at the front, this takes time linear in
the height of the stack and quadratic in the words to come.
"""
from spacy_nmparse.lab.crossing.spans cimport (
    FREE,
    INFINITY,
    MAX_WORDS,
    find_children,
    least_sum,
    row,
)
from spacy_nmparse.systems.state cimport NONE
from spacy_nmparse.systems.views cimport height, stack_item


cdef enum:   # tables, by the later and the earlier place
    INSIDE
    INSIDE_WRONG     # with k's own error, if its head is j or a wrong one
    AT_END
    AT_END_WRONG     # with k's own error, if its head is ROOT (where it can be) or a wrong one


cdef inline bint root_is_anywhere(const SystemC* system, const SpanC* span) noexcept nogil:
    """Whether at the end of the sentence ROOT can be the head of any word that is the top."""
    return not system.single_root and not span.form.root_first


cdef void fill_leaving(const SystemC* system, const GoldC* gold, const SpanC* span) noexcept nogil:
    cdef int j
    for j in range(1, span.size + 1):
        if j < span.size:
            fill_row(gold, span, INSIDE, j, span.first + j, False)
        if span.may_end[j]:
            fill_row(gold, span, AT_END, j, gold.n, not root_is_anywhere(system, span))


cdef void fill_row(
    const GoldC* gold, const SpanC* span, int table, int j, int front, bint keeps_wrong
) noexcept nogil:
    """A row of a table and of the one behind it: those with ``front`` at the front. keeps_wrong: it
    cannot be the head."""
    cdef short* right = row(span, table, j)
    cdef short* wrong = row(span, table + 1, j)
    cdef int[MAX_WORDS] children
    cdef int i, k, c, best
    for i in range(j - 1, -1, -1):
        best = 0 if i == j - 1 else INFINITY
        for k in range(i + 1, j):
            best = min(best, row(span, INSIDE, k)[i] + wrong[k])
        for c in range(find_children(gold, span, i + 1, span.first + i, children)):
            k = children[c]
            if k >= j:
                break
            best = min(best, row(span, INSIDE, k)[i] + right[k])
        right[i] = best
        wrong[i] = best + (
            span.head[span.first + i] != FREE
            and (keeps_wrong or span.head[span.first + i] != front)
        )


cdef struct TopC:       # what words are pushed upon, and the fewest errors so far, by place
    int b               # place of the first word of the buffer
    int x               # the top of the stack: an item, ROOT, or NONE
    bint lowest         # nothing is below it
    int[MAX_WORDS] children        # its gold dependents in the buffer
    int n_children
    int[MAX_WORDS + 1] inside      # where the place is at the front
    int* losses         # where the sentence ends before it


cdef void extend(
    const SystemC* system, const GoldC* gold, const SpanC* span, TopC* t
) noexcept nogil:
    """Push words upon the top of the stack, and let them leave."""
    cdef int* inside = t.inside
    cdef int* losses = t.losses
    cdef const int* children = t.children
    cdef int[MAX_WORDS] roots
    cdef int n_inside = 0 if t.x == gold.n and system.single_root else t.n_children
    cdef int n_roots = 0
    cdef int j, i
    if t.lowest:
        n_roots = find_children(gold, span, t.b, gold.n, roots)
    for j in range(t.b + 1, span.size):
        inside[j] = min(inside[j], least_sum(row(span, INSIDE_WRONG, j), inside, t.b, j))
        for i in range(n_inside):
            if children[i] >= j:
                break
            inside[j] = min(inside[j], row(span, INSIDE, j)[children[i]] + inside[children[i]])
    for j in range(t.b + 1, span.size + 1):
        if not span.may_end[j]:
            continue
        losses[j] = min(losses[j], least_sum(row(span, AT_END_WRONG, j), inside, t.b, j))
        for i in range(t.n_children):
            if children[i] >= j:
                break
            losses[j] = min(losses[j], row(span, AT_END, j)[children[i]] + inside[children[i]])
        for i in range(n_roots):
            if roots[i] >= j:
                break
            losses[j] = min(losses[j], row(span, AT_END, j)[roots[i]] + inside[roots[i]])


cdef void pop_item(
    const StateC* s, const GoldC* gold, const SpanC* span, const ViewC* v, int i, TopC* t
) noexcept nogil:
    """Let the i-th stack item leave, the top one; before that, push words upon it, unless it has
    nothing to wait for: then they can as well be pushed upon the one beneath."""
    cdef int w = stack_item(s, v, i)
    cdef int head = gold.head[w] - span.first      # its place
    cdef int wrong = span.form.leave(s, gold, v, i, NONE)
    cdef int at_end = span.form.leave(s, gold, v, i, gold.n)
    cdef int j
    cdef bint waits = t.b <= head < span.size and gold.head[w] < gold.n
    t.x = w
    t.n_children = find_children(gold, span, t.b, w, t.children)
    if t.n_children or waits or at_end < wrong:
        extend(s.system, gold, span, t)
    for j in range(t.b, span.size):
        if t.inside[j] < INFINITY:
            if waits and j == head:
                t.inside[j] += span.form.leave(s, gold, v, i, gold.head[w])
            else:
                t.inside[j] += wrong
    for j in range(t.b, span.size + 1):
        if t.losses[j] < INFINITY:
            t.losses[j] += at_end


cdef void leaving_losses(
    const StateC* s, const GoldC* gold, const SpanC* span, const ViewC* v, int* losses
) noexcept nogil:
    """losses[e] is filled where the sentence may end before place e."""
    cdef TopC t
    cdef int bottom = span.form.root_first
    cdef int i
    t.b = v.b - span.first
    t.losses = losses
    t.lowest = False
    for i in range(t.b, span.size + 1):
        t.inside[i] = INFINITY
        losses[i] = INFINITY
    t.inside[t.b] = 0
    if span.may_end[t.b]:
        losses[t.b] = 0
    for i in range(height(v) - 1, bottom - 1, -1):
        pop_item(s, gold, span, v, i, &t)
    t.lowest = True
    t.x = gold.n if bottom else NONE
    t.n_children = find_children(gold, span, t.b, gold.n, t.children) if bottom else 0
    extend(s.system, gold, span, &t)
