"""The loss of the list systems.

Loss of a monotonic configuration: the sum of
  * words whose gold arc is neither built (with the right label) nor *pending*: word headless, and
    the later end of the arc still to become j, or j already and the other end in lambda1;
  * words with ROOT as gold head that have another head (explicit_root, with labels: or that can
    no longer get the label);
  * cycles in the graph of built and pending arcs: it has one arc at most into each word, so cycles
    are disjoint, and each one costs one pending arc;
  * single_root: of the gold roots still without a head in a sentence, all but one; heads that
    tree() makes up for other headless words never count as right;
  * segment: missed and invented sentence starts, and arcs across. The sentence is taken to end at
    the first place where no pending arc crosses.
It is exact: tests/exhaustive.py finds no configuration where it is not. One exception: single_root
with segment on gold with unknown sentence starts, where one lost arc may free several starts.

The loss of the non-monotonic systems is a guess: see ``may_be_freed`` and ``n_cut``.
"""
from spacy_nmparse.systems.covington.lists cimport marks
from spacy_nmparse.systems.covington.views cimport (
    head_of,
    in_lambda1,
    is_pending,
    is_right,
    label_is_right,
    list_view,
    root_is_near,
    root_is_open,
)
from spacy_nmparse.systems.gold cimport far_end, last_child
from spacy_nmparse.systems.headless cimport treetop
from spacy_nmparse.systems.sentences cimport decided_starts
from spacy_nmparse.systems.state cimport NONE


cdef inline bint starts_here(const StateC* s, const ListViewC* v) noexcept nogil:
    """Whether a sentence start can be made at j: then j has no arc yet."""
    return (
        s.system.segment and not v.touched and v.start < v.b < s.n and s.constraint[v.b] != -1
        and v.n_lambda1 == s.system.explicit_root + v.b - v.start
    )


cdef inline int top_of(const StateC* s, const ListViewC* v, int w) noexcept nogil:
    """The top of the tree that w is in."""
    cdef int top = treetop(s, w)
    if top == v.dependent and v.head != s.n:
        top = treetop(s, v.head)
    return top


cdef int fresh_marks(const StateC* s) noexcept nogil:
    """A number above all marks."""
    cdef int* mark = marks(s)
    cdef int w
    if mark[s.n] > 1 << 30:
        for w in range(s.n + 1):
            mark[w] = 0
    return mark[s.n] + 1


cdef int n_cycles(const StateC* s, const GoldC* gold, const ListViewC* v, int e) noexcept nogil:
    """Cycles among built and pending arcs. Walk from treetop to treetop: the next one is the top of
    the tree that holds the gold head of this one. Every cycle has a built arc, so it has a treetop
    up to j."""
    cdef int* mark = marks(s)
    cdef int first = fresh_marks(s)
    cdef int walk = first - 1
    cdef int cycles = 0
    cdef int w, top
    for w in range(v.start, min(v.b + 1, e)):
        if head_of(s, v, w) != NONE or mark[w] >= first:
            continue
        walk += 1
        top = w
        while mark[top] < first:
            mark[top] = walk
            if not is_pending(s, gold, v, top, e):
                break
            top = top_of(s, v, gold.head[top])
            if mark[top] == walk:
                cycles += 1
    mark[s.n] = walk
    return cycles


# Two guesses about arcs that will be deleted. No exact form is known of the loss of non-monotonic
# systems. It is taken to be that of the monotonic ones without the cycles, with every word free to
# get another head, and with these guesses; docs/systems.md tells how often it errs.

cdef bint may_be_freed(
    const StateC* s, const GoldC* gold, const ListViewC* v, int w, int e
) noexcept nogil:
    """Whether the arc into w will likely be deleted at no cost: a pending arc w -> y, with y above
    w, closes a cycle through it, and no right arc into y is replaced."""
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
    """Right arcs that will be cut when the pending arcs of j are built, from the right to the left:
    h -> d cuts the arc into h, where it closes a cycle that no arc before it has broken."""
    cdef int j = v.b
    cdef int cut = 0
    cdef int m, i, h, d, x
    if j >= e:
        return 0
    for m in range(1, v.n_lambda1 - s.system.explicit_root + 1):
        i = v.start + v.n_lambda1 - s.system.explicit_root - m
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


cdef int list_inner(const StateC* s, const GoldC* gold, const ListViewC* v, int e) noexcept nogil:
    """Words from the start of the sentence that lose their gold head when it ends before e."""
    cdef int n = gold.n
    cdef int loss = 0
    cdef int roots = 0
    cdef bint taken = False
    cdef int w, g, h
    if s.system.single_root:
        for w in range(v.start, min(v.b + 1, e)):
            if head_of(s, v, w) == n and not is_pending(s, gold, v, w, e):
                taken = True
    for w in range(v.start, e):
        g = gold.head[w]
        if g == NONE:
            continue
        h = head_of(s, v, w)
        if h == g:
            if label_is_right(s, gold, v, w):
                roots += g == n
            else:
                loss += 1
        elif g != n:
            loss += not is_pending(s, gold, v, w, e)
        elif root_is_open(s, gold, v, w, taken) and (
            h == NONE or (s.system.nonmonotonic and (
                root_is_near(s, v, w) or may_be_freed(s, gold, v, w, e)
            ))
        ):
            roots += 1
        else:
            loss += 1
    if s.system.single_root:
        loss += max(0, roots - 1)
    if not s.system.nonmonotonic:
        loss += n_cycles(s, gold, v, e)
    else:
        loss += n_cut(s, gold, v, e)
    return loss


cdef int sentence_end(const StateC* s, const GoldC* gold, const ListViewC* v) noexcept nogil:
    """Where the sentence ends at best: at the first place that no pending arc crosses."""
    cdef int n = gold.n
    cdef int far = NONE
    cdef int w, e
    if not s.system.segment or v.b >= n:
        return n
    for w in range(v.start, v.b):
        if last_child(gold, w) > v.b:
            far = max(far, last_child(gold, w))
        if is_pending(s, gold, v, w, n):
            far = max(far, gold.head[w])
    w = v.b
    if gold.head[w] < w and is_pending(s, gold, v, w, n):
        far = max(far, w)
    if far < w and gold.sent_start[w] != 0 and starts_here(s, v):
        return w
    if is_pending(s, gold, v, w, n):
        far = max(far, gold.head[w])
    far = max(far, last_child(gold, w))
    for e in range(v.b + 1, n):
        if far < e and gold.sent_start[e] != 0 and s.constraint[e] != -1:
            return e
        far = max(far, far_end(gold, e))
    return n


cdef int surplus_behind(const GoldC* gold, int e) noexcept nogil:
    """single_root: gold roots from e on but one in each sentence, when a sentence starts at e.
    Other than in ``gold.surplus_from``, arcs that are lost by that start do not join sentences."""
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


cdef int behind(const SystemC* system, const GoldC* gold, int e) noexcept nogil:
    """Errors from e on, when a sentence starts there."""
    return gold.lost_from[e] + (surplus_behind(gold, e) if system.single_root else 0)


cdef int missed_starts(const GoldC* gold, const ListViewC* v) noexcept nogil:
    """Sentence starts missed among the words between the first of the sentence and j."""
    cdef int w
    cdef int missed = 0
    for w in range(v.start + 1, v.b):
        missed += gold.sent_start[w] == 1
    return missed


cdef int list_rest(const StateC* s, const GoldC* gold, const ListViewC* v) noexcept nogil:
    """The part of the loss that lies in the current sentence and behind it."""
    cdef int e = sentence_end(s, gold, v)
    cdef int loss = list_inner(s, gold, v, e)
    if s.system.segment:
        loss += missed_starts(gold, v)
        if v.start < v.b < gold.n and not starts_here(s, v):
            loss += gold.sent_start[v.b] == 1
        if e < gold.n:
            loss += behind(s.system, gold, e)
    return loss


cdef int list_loss(const StateC* s, const GoldC* gold) noexcept nogil:
    cdef ListViewC v = list_view(s)
    cdef int loss = list_rest(s, gold, &v) + decided_starts(s, gold)
    cdef int first
    cdef int end = s.start
    while end > 0:  # the sentences that BREAK has closed
        first = end - 1
        while first > 0 and not s.sentence_start[first]:
            first -= 1
        v.start = first
        v.b = end
        v.n_lambda1 = 0
        loss += list_inner(s, gold, &v, end)
        end = first
    return loss
