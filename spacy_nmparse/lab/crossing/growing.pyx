# Nothing of this module can be imported from Python; see growing.pxd.
"""Losses where one tree grows at the top of the stack: arc-standard.

systems/tabular.pyx tells how trees grow, and leaves out words that matter only where gold arcs
cross: all words of the buffer are here. The tables hold the fewest errors in parts of a tree over
the words from place j up to, and without, place k:

  LEFT(j, k)    they all hang below k, the word behind them (Eisner 1996)
  RIGHT(j, k)   those behind j all hang below j
  TREE(j, k)    they are one tree, and its top word gets a wrong head
  ROOTED(j, k)  they are one tree, and its top word hangs off ROOT

The tree at the top of the stack has the topmost q items of the stack, the words of the buffer up to
place j, and a head h. Dependents on the two sides of h can come in any order. So if h is a stack
item, its errors are a sum, one part of which depends on j, and one on q; if it is a word of the
buffer, they are what it took to make it the head, and RIGHT(h, j). This takes time linear in the
height of the stack and quadratic in the words to come.

A stack item without a gold arc that can still be had is a dependent of whatever comes next to it,
for the price of its head.
"""
from spacy_nmparse.lab.crossing.spans cimport (
    FREE,
    INFINITY,
    MAX_WORDS,
    find_children,
    fits,
    least_sum,
    row,
)
from spacy_nmparse.systems.views cimport height, stack_item


cdef enum:   # tables, by the later and the earlier place
    LEFT
    RIGHT
    TREE
    ROOTED
    JOINED = TREE    # while the others are filled: what is between two words that an arc joins


cdef inline bint known(const SpanC* span, int w) noexcept nogil:
    """Whether a wrong head is an error in word w."""
    return span.head[w] != FREE


cdef void fill_growing(const SystemC* system, const GoldC* gold, const SpanC* span) noexcept nogil:
    cdef int length, i, j, k, best, below
    for j in range(span.size):
        row(span, LEFT, j)[j] = 0
    for length in range(1, span.size + 1):
        for i in range(span.size - length + 1):
            j = i + length
            best = 0 if length == 1 else INFINITY
            for k in range(i + 1, j):
                best = min(best, row(span, JOINED, k)[i] + row(span, RIGHT, j)[k] + (
                    not fits(span, span.first + k, span.first + i)
                ))
            row(span, RIGHT, j)[i] = best
            if j == span.size:
                continue
            best = INFINITY
            for k in range(i + 1, j + 1):
                best = min(best, row(span, RIGHT, k)[i] + row(span, LEFT, j)[k])
            row(span, JOINED, j)[i] = best
            best = INFINITY
            for k in range(i, j):
                best = min(best, row(span, LEFT, k)[i] + row(span, JOINED, j)[k] + (
                    not fits(span, span.first + k, span.first + j)
                ))
            row(span, LEFT, j)[i] = best
    for j in range(1, span.size + 1):
        for i in range(j):
            best = INFINITY
            below = INFINITY
            for k in range(i, j):
                length = row(span, LEFT, k)[i] + row(span, RIGHT, j)[k]
                best = min(best, length + known(span, span.first + k))
                below = min(below, length + (not fits(span, span.first + k, gold.n)))
            row(span, TREE, j)[i] = best
            row(span, ROOTED, j)[i] = below


cdef void grow_right(
    const SpanC* span, int table, int b, const int* children, int n_children, int* losses
) noexcept nogil:
    """Give the tree's head dependents on its right: those from a table, or gold ones."""
    cdef int[MAX_WORDS] with_child   # fewest errors up to, and without, what is right of the child
    cdef int j, i
    for j in range(b + 1, span.size + 1):
        losses[j] = min(losses[j], least_sum(row(span, table, j), losses, b, j))
        for i in range(n_children):
            if children[i] >= j:
                break
            if children[i] == j - 1:
                with_child[i] = least_sum(row(span, LEFT, j - 1), losses, b, j)
            losses[j] = min(losses[j], with_child[i] + row(span, RIGHT, j)[children[i]])


cdef int linked_items(
    const StateC* s, const GoldC* gold, const SpanC* span, const ViewC* v, int* items, int* lost
) noexcept nogil:
    """The stack items, from the top, that a gold arc may still join to others. Returns their
    number. lost: errors in the others."""
    cdef int n = gold.n
    cdef int end = span.first + span.size
    cdef int found = 0
    cdef int i, w, g
    cdef int[MAX_WORDS] children
    for i in range(1, height(v)):
        s.entry[stack_item(s, v, i)] = 0
    for i in range(1, height(v)):
        w = stack_item(s, v, i)
        g = span.head[w]
        if g == n or v.b <= g < end:
            s.entry[w] = 1
        elif g >= 0 and (g == v.top or 0 <= s.position[g] < v.below):
            s.entry[w] = 1
            s.entry[g] = 1
        if find_children(gold, span, v.b - span.first, w, children):
            s.entry[w] = 1
    lost[0] = 0
    for i in range(height(v) - 1, 0, -1):
        w = stack_item(s, v, i)
        if not s.entry[w]:
            lost[0] += known(span, w)
        else:
            items[found] = w
            found += 1
    return found


cdef struct TopC:       # the tree at the top of the stack, that has taken some stack items
    const SpanC* span
    const int* items    # the linked stack items, from the top
    int n               # how many of them it has
    int b               # place of the first word of the buffer
    # The fewest errors in it, by the place where its words of the buffer end. Its head is ...
    int* by_item        # ... the q-th item: row q,
    int* offset         # and so many more: errors in the items that came after it
    int[MAX_WORDS + 1] by_word     # ... this word of the buffer
    int[MAX_WORDS + 1] wrong       # ... any of these, and gets a wrong head
    int[MAX_WORDS] children        # gold dependents in the buffer of what becomes the head next
    int n_children


cdef void growing_losses(
    const StateC* s, const GoldC* gold, const SpanC* span, const ViewC* v, int* losses
) noexcept nogil:
    """losses[e] is filled where the sentence may end before place e."""
    cdef int* items = span.room
    cdef TopC t
    cdef int width = span.size + 1
    cdef int b = v.b - span.first
    cdef int lost, q, i, j, w, n_items
    t.span, t.items, t.b = span, items, b
    t.offset = items + gold.n
    t.by_item = t.offset + gold.n
    n_items = linked_items(s, gold, span, v, items, &lost)
    for j in range(b, span.size + 1):
        t.by_word[j] = INFINITY
        losses[j] = INFINITY
    losses[b] = 0
    for q in range(n_items):
        w = items[q]
        t.n = q
        t.n_children = find_children(gold, span, b, w, t.children)
        if q == 0:
            for j in range(b, span.size + 1):
                t.by_item[j] = INFINITY
            t.by_item[b] = 0
        else:
            new_head(&t, w, t.by_item + q * width)
            for i in range(q):
                t.offset[i] += not fits(span, w, items[i])
            for j in range(b, span.size):
                t.by_word[j] += not fits(span, w, span.first + j)
        t.offset[q] = 0
        t.n = q + 1
        grow_right(span, TREE, b, t.children, t.n_children, t.by_item + q * width)
        head_in_buffer(&t, gold)
    if n_items:
        t.n_children = find_children(gold, span, b, gold.n, t.children)
        new_head(&t, gold.n, losses)
    if not s.system.single_root:
        grow_right(span, ROOTED, b, t.children, 0, losses)
    elif n_items == 0:
        for j in range(b + 1, span.size + 1):
            losses[j] = row(span, ROOTED, j)[b]
    for j in range(b, span.size + 1):
        losses[j] += lost


cdef void new_head(const TopC* t, int w, int* losses) noexcept nogil:
    """Let w, the next item or ROOT, become the head of the tree, whatever its head is now."""
    cdef const SpanC* span = t.span
    cdef int i, j, child
    for j in range(t.b, span.size + 1):
        losses[j] = t.wrong[j]
    for i in range(t.n):
        if span.head[t.items[i]] == w:
            for j in range(t.b, span.size + 1):
                losses[j] = min(losses[j], t.by_item[i * (span.size + 1) + j] + t.offset[i])
    for i in range(t.n_children):
        child = t.children[i]
        for j in range(child + 1, span.size + 1):
            losses[j] = min(losses[j], t.by_word[child] + row(span, RIGHT, j)[child])


cdef void head_in_buffer(TopC* t, const GoldC* gold) noexcept nogil:
    """Let words of the buffer become the head of the tree, and fill ``wrong``."""
    cdef const SpanC* span = t.span
    cdef int width = span.size + 1
    cdef int b = t.b
    cdef int i, j, k, c, w, best
    for j in range(b, span.size + 1):
        best = INFINITY
        for i in range(t.n):
            best = min(
                best, t.by_item[i * width + j] + t.offset[i] + known(span, t.items[i])
            )
        for k in range(b, j):
            best = min(best, t.by_word[k] + row(span, RIGHT, j)[k] + known(span, span.first + k))
        t.wrong[j] = best
        if j == span.size:
            return
        w = span.first + j
        best = least_sum(row(span, LEFT, j), t.wrong, b, j + 1)
        for i in range(t.n):
            if span.head[t.items[i]] == w:
                best = min(best, t.offset[i] + least_sum(
                    row(span, LEFT, j), t.by_item + i * width, b, j + 1
                ))
        for c in range(gold.child_offset[w], gold.child_offset[w + 1]):
            k = gold.children[c] - span.first
            if k < b:
                continue
            if k >= j:
                break
            if span.head[w - j + k] == w:
                for i in range(k + 1, j + 1):
                    best = min(best, t.by_word[k] + row(span, RIGHT, i)[k] + row(span, LEFT, j)[i])
        t.by_word[j] = min(t.by_word[j], best)
