"""The list systems: Covington (2001; Nivre 2008) and NL-Covington (Fernández-González &
Gómez-Rodríguez 2018), monotonic and non-monotonic.

A configuration is (lambda1, lambda2, buffer, arcs). i is the last item of lambda1, j the first word
of the buffer: the focus words. Start: empty lists (``explicit_root``: ROOT in lambda1), all words
in the buffer. End: an empty buffer. Words without a head then hang off ROOT. Moves of the non-local
system reach any item of lambda1: i_k is the k-th from the right, i = i_1.

Cycles. The monotonic systems keep the words of a tree together in a union-find set (state_join):
h -> d is legal iff d has no head and h is not in d's set. The non-monotonic ones delete arcs, which
no such sets survive. They need none: every arc is legal, and only after the choice one chain of
heads is climbed, from h, to see whether h -> d closes a cycle; then the arc into h goes.

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

No exact form is known of the non-monotonic loss. Here it is the same without the cycles, with every
word free to get another head, and with two guesses: whether a gold root that has a head will be
freed (may_be_freed), and which right arcs will be cut (n_cut). docs/systems.md: how often it errs.

All costs of a configuration together take linear time in the monotonic systems (fill_costs): what
an arc move adds to the loss is told by the pending arcs it drops and the cycles it cuts and closes.
"""
from spacy_nmparse.systems.gold cimport Gold
from spacy_nmparse.systems.state cimport (
    NONE,
    State,
    is_above,
    item,
    n_items,
    state_add_arc,
    state_del_arc,
    state_join,
    treetop,
)
from spacy_nmparse.systems.system cimport (
    BREAK,
    CROSSES_BY_ARC,
    LEARN_ANY,
    LEARN_LABEL,
    LEARN_NOT,
    LEFT_ARC,
    MoveC,
    NO_ARC,
    RIGHT_ARC,
    SHIFT,
    STATIC,
    TransitionSystem,
    cost_each,
    costs_t,
    label_fits,
    next_k_t,
)


cdef struct ViewC:   # a configuration, told as the difference to a StateC
    int start
    int b
    int n_lambda1
    int head         # this arc has been added, in place of dependent's old one;
    int dependent    # or NONE
    int label
    int freed        # the arc into this word has been deleted; or NONE
    bint touched     # j has been compared with a word: no sentence can start there any more


cdef inline ViewC view(const StateC* s) noexcept nogil:
    cdef ViewC v
    v.start = s.start
    v.b = s.b
    v.n_lambda1 = s.n_lambda1
    v.head = NONE
    v.dependent = NONE
    v.label = NONE
    v.freed = NONE
    v.touched = False
    return v


cdef inline int head_of(const StateC* s, const ViewC* v, int w) noexcept nogil:
    if w == v.dependent:
        return v.head
    return NONE if w == v.freed else s.head[w]


cdef inline bint label_is_right(
    const StateC* s, const GoldC* gold, const ViewC* v, int w
) noexcept nogil:
    cdef int label = v.label if w == v.dependent else s.label[w]
    return gold.label[w] == NONE or gold.label[w] == label


cdef inline bint in_lambda1(const StateC* s, const ViewC* v, int w) noexcept nogil:
    return v.start <= w < v.start + v.n_lambda1 - s.root_first


cdef inline bint root_is_near(const StateC* s, const ViewC* v, int w) noexcept nogil:
    """Whether an arc from ROOT to w can still be made."""
    return s.root_first and (w > v.b or (w == v.b and v.n_lambda1 > 0))


cdef inline bint may_break(const SystemC* system, const StateC* s, const ViewC* v) noexcept nogil:
    """Whether a sentence start can be made at j: then j has no arc yet."""
    return (
        system.segment and not v.touched and v.start < v.b < s.n and s.constraint[v.b] != -1
        and v.n_lambda1 == s.root_first + v.b - v.start
    )


cdef inline bint must_break(const SystemC* system, const StateC* s) noexcept nogil:
    return system.segment and s.start < s.b < s.n and s.constraint[s.b] == 1


cdef inline bint is_pending(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int w, int e
) noexcept nogil:
    """Whether the gold arc into w from a word can still be built, in a sentence that ends at e."""
    cdef int g = gold.head[w]
    cdef int h = head_of(s, v, w)
    cdef int late
    if g == NONE or not v.start <= g < e or h == g or (h != NONE and not system.nonmonotonic):
        return False
    late = max(g, w)
    return late > v.b or (late == v.b and in_lambda1(s, v, min(g, w)))


cdef inline bint root_is_open(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int w, bint taken
) noexcept nogil:
    """Whether w, headless, can still become the child of ROOT that it should be. taken:
    single_root, and ROOT has a child."""
    if taken:
        return False
    if gold.label[w] == NONE or gold.label[w] == system.root_label:
        return True
    if not system.explicit_root:  # labels of roots are the system's, or none and not judged
        return system.root_label == NONE
    return system.root_label == NONE and root_is_near(s, v, w)


cdef inline int top_of(const StateC* s, const ViewC* v, int w) noexcept nogil:
    """The top of the tree that w is in."""
    cdef int top = treetop(s, w)
    if top == v.dependent and v.head != s.n:
        top = treetop(s, v.head)
    return top


cdef inline int fresh_marks(const StateC* s) noexcept nogil:
    """A number above all marks."""
    cdef int w
    if s.mark[s.n] > 1 << 30:
        for w in range(s.n + 1):
            s.mark[w] = 0
    return s.mark[s.n] + 1


cdef int n_cycles(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int e
) noexcept nogil:
    """Cycles among built and pending arcs. Every word of one that has no head is a treetop; the
    next is the top of the tree that has its gold head. A cycle has a built arc: a top up to j."""
    cdef int first = fresh_marks(s)
    cdef int walk = first - 1
    cdef int cycles = 0
    cdef int w, top
    for w in range(v.start, min(v.b + 1, e)):
        if head_of(s, v, w) != NONE or s.mark[w] >= first:
            continue
        walk += 1
        top = w
        while s.mark[top] < first:
            s.mark[top] = walk
            if not is_pending(system, s, gold, v, top, e):
                break
            top = top_of(s, v, gold.head[top])
            if s.mark[top] == walk:
                cycles += 1
    s.mark[s.n] = walk
    return cycles


cdef inline int last_child(const GoldC* gold, int w) noexcept nogil:
    """The last gold dependent of w, or NONE."""
    cdef int end = gold.child_offset[w + 1]
    return gold.children[end - 1] if end > gold.child_offset[w] else NONE


cdef inline bint is_right(const StateC* s, const GoldC* gold, const ViewC* v, int w) noexcept nogil:
    """Whether w has its gold head: an arc from it, or none if that is ROOT."""
    cdef int h = head_of(s, v, w)
    return gold.head[w] != NONE and (gold.head[w] == h or (gold.head[w] == s.n and h == NONE))


cdef bint may_be_freed(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int w, int e
) noexcept nogil:
    """Non-monotonic: whether the arc into w will likely go, for nothing: a cycle through it must be
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
            if is_pending(system, s, gold, v, y, e) and gold.head[y] < child:
                continue
            if child > j or (child == j and in_lambda1(s, v, y) and in_lambda1(s, v, w)):
                return True  # by child -> y, then w -> child


cdef int n_cut(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int e
) noexcept nogil:
    """Non-monotonic: right arcs that the pending arcs of j, built from the right, will cut: those
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
        if not is_pending(system, s, gold, v, d, e) or head_of(s, v, h) != gold.head[h]:
            continue
        x = h
        while x != NONE and x != s.n and x != d:
            if is_pending(system, s, gold, v, x, e) and max(x, gold.head[x]) == j and (
                min(x, gold.head[x]) > i
            ):
                break
            x = head_of(s, v, x)
        cut += x == d
    return cut


cdef int inner(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int e
) noexcept nogil:
    """Words from the start of the sentence that lose their gold head when it ends before e."""
    cdef int n = gold.n
    cdef int loss = 0
    cdef int roots = 0
    cdef bint taken = False
    cdef int w, g, h
    if system.single_root:
        for w in range(v.start, min(v.b + 1, e)):
            if head_of(s, v, w) == n and not is_pending(system, s, gold, v, w, e):
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
            loss += not is_pending(system, s, gold, v, w, e)
        elif root_is_open(system, s, gold, v, w, taken) and (
            h == NONE or (system.nonmonotonic and (
                root_is_near(s, v, w) or may_be_freed(system, s, gold, v, w, e)
            ))
        ):
            roots += 1
        else:
            loss += 1
    if system.single_root:
        loss += max(0, roots - 1)
    if not system.nonmonotonic:
        loss += n_cycles(system, s, gold, v, e)
    else:
        loss += n_cut(system, s, gold, v, e)
    return loss


cdef int sentence_end(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v
) noexcept nogil:
    """Where the sentence ends at best: at the first place that no pending arc crosses."""
    cdef int n = gold.n
    cdef int far = NONE
    cdef int w, e
    if not system.segment or v.b >= n:
        return n
    for w in range(v.start, v.b):
        if last_child(gold, w) > v.b:
            far = max(far, last_child(gold, w))
        if is_pending(system, s, gold, v, w, n):
            far = max(far, gold.head[w])
    w = v.b
    if gold.head[w] < w and is_pending(system, s, gold, v, w, n):
        far = max(far, w)
    if far < w and gold.sent_start[w] != 0 and may_break(system, s, v):
        return w
    if is_pending(system, s, gold, v, w, n):
        far = max(far, gold.head[w])
    far = max(far, last_child(gold, w))
    for e in range(v.b + 1, n):
        if far < e and gold.sent_start[e] != 0 and s.constraint[e] != -1:
            return e
        far = max(far, last_child(gold, e))
        if gold.head[e] != n:
            far = max(far, gold.head[e])
    return n


cdef inline int surplus_behind(const GoldC* gold, int e) noexcept nogil:
    """single_root: gold roots from e on but one in each sentence, when a sentence starts at e.
    ``gold.surplus_from`` does not know which arcs are lost by that."""
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
        far = max(far, last_child(gold, w))
        if gold.head[w] != gold.n:
            far = max(far, gold.head[w])
    return surplus + max(0, roots - 1)


cdef inline int behind(const SystemC* system, const GoldC* gold, int e) noexcept nogil:
    """Errors from e on, when a sentence starts there."""
    return gold.lost_from[e] + (surplus_behind(gold, e) if system.single_root else 0)


cdef inline int missed_starts(const GoldC* gold, const ViewC* v) noexcept nogil:
    """Sentence starts missed among the words between the first of the sentence and j."""
    cdef int w
    cdef int missed = 0
    for w in range(v.start + 1, v.b):
        missed += gold.sent_start[w] == 1
    return missed


cdef int rest(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v
) noexcept nogil:
    """The part of the loss that lies in the current sentence and behind it."""
    cdef int e = sentence_end(system, s, gold, v)
    cdef int loss = inner(system, s, gold, v, e)
    if system.segment:
        loss += missed_starts(gold, v)
        if v.start < v.b < gold.n and not may_break(system, s, v):
            loss += gold.sent_start[v.b] == 1
        if e < gold.n:
            loss += behind(system, gold, e)
    return loss


cdef int item_end(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return item(s, k)


cdef int focus_end(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return s.b


cdef inline bint is_too_long(const SystemC* system, const StateC* s, int i) noexcept nogil:
    """Whether no arc may be made between i and j. Those from ROOT are of no length."""
    return system.max_length > 0 and i != s.n and s.b - i > system.max_length


cdef int next_item(const SystemC* system, const StateC* s, int k) noexcept nogil:
    """The k of the next item of lambda1 that is near enough: behind the near words, ROOT."""
    k += 1
    if k > s.n_lambda1:
        return NONE
    if not is_too_long(system, s, item(s, k)):
        return k
    return s.n_lambda1 if s.root_first else NONE


cdef void add_arc(
    const SystemC* system, StateC* s, int head, int dependent, int label
) noexcept nogil:
    """A + head -> dependent, in place of dependent's old arc, without the arc into head if that
    closes a cycle now."""
    if system.nonmonotonic:
        state_del_arc(s, dependent)
        if is_above(s, dependent, head):  # a cycle
            state_del_arc(s, head)
    elif head != s.n:
        state_join(s, head, dependent)
    state_add_arc(s, head, dependent, label)
    if head == s.n:
        s.root_child = dependent


cdef inline bint deletes(const StateC* s, int head, int dependent) noexcept nogil:
    """Non-monotonic: whether an arc is deleted that head -> dependent would be made for."""
    return s.head[dependent] != NONE or is_above(s, dependent, head)


cdef bint left_deletes(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return deletes(s, s.b, item(s, k))


cdef bint right_deletes(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return deletes(s, item(s, k), s.b)


cdef inline ViewC with_arc(
    const SystemC* system, const StateC* s, int k, int head, int dependent, int label
) noexcept nogil:
    """The configuration after an arc move."""
    cdef ViewC v = view(s)
    v.n_lambda1 -= k
    v.head = head
    v.dependent = dependent
    v.label = label
    if system.nonmonotonic and is_above(s, dependent, head):
        v.freed = head
    return v


# SHIFT: (L1, L2, j|B, A) => (L1.L2|j, [], B, A).

cdef bint can_shift(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return s.b < s.n and not must_break(system, s)


cdef void do_shift(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil:
    s.b += 1
    s.n_lambda1 = n_items(s)


cdef int shift_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """The pending arcs between j and lambda1 are lost."""
    cdef ViewC before = view(s)
    cdef ViewC v = before
    v.b += 1
    v.n_lambda1 = n_items(s) + 1
    return rest(system, s, gold, &v) - rest(system, s, gold, &before)


# NO-ARC: (L1|i, L2, B, A) => (L1, i|L2, B, A).

cdef bint can_skip(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return s.b < s.n and s.n_lambda1 > 0 and not must_break(system, s)


cdef void do_skip(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil:
    s.n_lambda1 -= 1


cdef int skip_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """A pending arc between i and j is lost."""
    cdef ViewC before = view(s)
    cdef ViewC v = before
    v.n_lambda1 -= 1
    return rest(system, s, gold, &v) - rest(system, s, gold, &before)


# LEFT-ARC(k, l): (L1|i_k|..|i_1, L2, j|B, A) => (L1, i_k|..|i_1.L2, j|B, A + j -l-> i_k). i_k is
# not ROOT, has no head, and not i_k ->* j. Non-monotonic: any word i_k; A loses the old arc into
# i_k, and the arc into j if i_k ->* j.

cdef bint can_left_arc(const SystemC* system, const StateC* s, int k) noexcept nogil:
    cdef int i
    if s.b >= s.n or s.n_lambda1 < k or must_break(system, s):
        return False
    i = item(s, k)
    if i == s.n or is_too_long(system, s, i):
        return False
    return system.nonmonotonic or (s.head[i] == NONE and treetop(s, s.b) != i)


cdef void do_left_arc(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil:
    add_arc(system, s, s.b, item(s, k), l)
    s.n_lambda1 -= k


cdef int left_arc_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """i_k loses a pending arc from elsewhere; those between j and i_k .. i_1 are lost."""
    cdef ViewC before = view(s)
    cdef ViewC v = with_arc(system, s, k, s.b, item(s, k), label)
    return rest(system, s, gold, &v) - rest(system, s, gold, &before)


# RIGHT-ARC(k, l): (L1|i_k|..|i_1, L2, j|B, A) => (L1, i_k|..|i_1.L2, j|B, A + i_k -l-> j). j has no
# head, and not j ->* i_k. single_root: not from ROOT if it has a child in the sentence.
# Non-monotonic: A loses the old arc into j, and the arc into i_k if j ->* i_k.

cdef bint can_right_arc(const SystemC* system, const StateC* s, int k) noexcept nogil:
    cdef int i
    if s.b >= s.n or s.n_lambda1 < k or must_break(system, s):
        return False
    if not system.nonmonotonic and s.head[s.b] != NONE:
        return False
    i = item(s, k)
    if i == s.n:
        return not system.single_root or not root_has_child(s)
    if is_too_long(system, s, i):
        return False
    return system.nonmonotonic or treetop(s, i) != s.b


cdef inline bint root_has_child(const StateC* s) noexcept nogil:
    """Whether ROOT has a child in the sentence; under single_root."""
    return s.root_child >= s.start and s.head[s.root_child] == s.n


cdef void do_right_arc(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil:
    add_arc(system, s, item(s, k), s.b, l)
    s.n_lambda1 -= k


cdef int right_arc_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """j loses a pending arc from elsewhere; those between j and i_k .. i_1 are lost."""
    cdef ViewC before = view(s)
    cdef ViewC v = with_arc(system, s, k, item(s, k), s.b, label)
    return rest(system, s, gold, &v) - rest(system, s, gold, &before)


# BREAK: (L1, [], B, A) => ([], [], B, A), with explicit_root ([ROOT], [], B, A). There is a word in
# L1, and j may start a sentence.

cdef bint can_break(const SystemC* system, const StateC* s, int k) noexcept nogil:
    cdef ViewC v = view(s)
    return may_break(system, s, &v)


cdef void do_break(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil:
    s.sentence_start[s.b] = 1
    s.start = s.b
    s.n_lambda1 = s.root_first


cdef int break_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """An invented start; and the pending arcs between lambda1 and the buffer."""
    cdef ViewC v = view(s)
    return (
        inner(system, s, gold, &v, s.b) + missed_starts(gold, &v) + behind(system, gold, s.b)
        + (gold.sent_start[s.b] == 0) - rest(system, s, gold, &v)
    )


# All costs of a configuration at once.

cdef enum:
    FROM_J = 1      # marks of a treetop: the path of pending arcs from j's tree leads here
    ON_CYCLE = 2    # it lies on a cycle, and j's tree does not
    ENTRY = 4       # from here on: 1 + the treetop on the path from here that leads to j's tree


cdef inline int place(const StateC* s, int w) noexcept nogil:
    """The k of a word in lambda1; <= 0: it is in lambda2."""
    return s.n_lambda1 - s.root_first - (w - s.start)


cdef void mark_paths(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int e
) noexcept nogil:
    """Mark the treetops up to j in s.entry: where the paths of pending arcs through them lead."""
    cdef int tj = treetop(s, s.b)
    cdef int first = fresh_marks(s)
    cdef int walk = first - 1
    cdef int w, top, last, following, entry
    for w in range(s.start, s.b + 1):
        if s.head[w] != NONE or s.mark[w] >= first:
            continue
        walk += 1
        top = w
        entry = 0
        while True:
            s.mark[top] = walk
            s.entry[top] = 0
            last = top
            if not is_pending(system, s, gold, v, top, e):
                break
            following = treetop(s, gold.head[top])
            if following == tj:
                entry = (1 + top) * ENTRY
                break
            if s.mark[following] >= first:
                if s.mark[following] < walk:
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
    s.mark[s.n] = walk
    top = tj
    if s.head[tj] != NONE:
        s.entry[tj] = 0
    while is_pending(system, s, gold, v, top, e):
        top = treetop(s, gold.head[top])
        if top == tj or s.entry[top] & FROM_J:
            break
        s.entry[top] |= FROM_J


cdef inline bint is_cut(const StateC* s, const GoldC* gold, int x, int k) noexcept nogil:
    """Whether x's pending arc is one from j, lost when items 1 .. k leave lambda1."""
    return gold.head[x] == s.b and 0 < place(s, x) <= k


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
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int e, bint taken
) noexcept nogil:
    """Gold roots up to e that are children of ROOT, or can be."""
    cdef int w
    cdef int roots = 0
    for w in range(v.start, e):
        if gold.head[w] == s.n:
            if s.head[w] == NONE:
                roots += root_is_open(system, s, gold, v, w, taken)
            elif s.head[w] == s.n:
                roots += label_is_right(s, gold, v, w)
    return roots


cdef void fill_costs(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil:
    """cost and cost_other of each candidate."""
    cdef ViewC before = view(s)
    cdef ViewC v = before
    cdef int j = s.b
    cdef int roots = 0
    cdef int lost = 0       # pending arcs between j and i_1 .. i_m
    cdef int m = 0
    cdef int place_j = 0    # of j's gold head, if that arc is pending and in lambda1
    cdef bint taken = False
    cdef bint ready = False
    cdef bint left
    cdef int number, e, i, h, d, g, k, base, cost, root_cost
    cdef CandidateC* c
    cdef const MoveC* move
    if system.nonmonotonic or j >= s.n or (
        system.single_root and system.segment and gold.unknown_starts
    ):
        cost_each(system, s, gold, push_label, candidates, n)
        return
    for number in range(n):
        c = &candidates[number]
        move = &system.moves[c.move]
        if c.dependent == NONE:
            c.cost = move.cost(system, s, gold, c.k, NONE, push_label)
            c.cost_other = c.cost
            continue
        if not ready:
            ready = True
            v.touched = True
            e = sentence_end(system, s, gold, &v)
            base = rest(system, s, gold, &v) - rest(system, s, gold, &before)
            mark_paths(system, s, gold, &v, e)
            if system.single_root:
                taken = root_has_child(s)
                roots = n_open_roots(system, s, gold, &v, e, taken)
            if gold.head[j] != NONE and gold.head[j] < j and (
                is_pending(system, s, gold, &v, j, e)
            ):
                place_j = place(s, gold.head[j])
        h, d, k = c.head, c.dependent, c.k
        left = d != j
        if m >= k:  # RIGHT-ARCs begin
            m = 0
            lost = 0
        while m < k - 1:
            m += 1
            i = item(s, m)
            lost += (gold.head[i] == j and s.head[i] == NONE) + (m == place_j)
        # What d loses: its gold head; ROOT, if it could be had; and the arc the other way round.
        g = gold.head[d]
        root_cost = not system.single_root or roots < 2
        cost = base + lost
        if left:
            cost += k == place_j
        elif h != s.n:
            cost += gold.head[h] == j and s.head[h] == NONE
        if g == s.n and h != s.n:
            if root_is_open(system, s, gold, &v, d, taken):
                cost += root_cost
        elif g != h:
            if left or place_j == 0 or place_j > k:
                cost += is_pending(system, s, gold, &v, d, e)
            cost += h == s.n and system.single_root and roots > 0
        cost += cycles_closed(s, gold, k, left, place_j)
        c.cost_other = cost + (g == h and gold.label[d] != NONE)
        c.cost = cost
        if not label_fits(system, h == s.n, gold.label[d]):
            c.cost = c.cost_other


# The loss, from scratch: for tests and for the Python face.

cdef int covington_loss(const SystemC* system, const StateC* s, const GoldC* gold) noexcept nogil:
    cdef ViewC v = view(s)
    cdef int loss = rest(system, s, gold, &v)
    cdef int first, end, w
    for w in range(1, s.start + 1):
        loss += gold.sent_start[w] == (0 if s.sentence_start[w] else 1)
    end = s.start
    while end > 0:  # the sentences that BREAK has closed
        first = end - 1
        while first > 0 and not s.sentence_start[first]:
            first -= 1
        v.start = first
        v.b = end
        v.n_lambda1 = 0
        loss += inner(system, s, gold, &v, end)
        end = first
    return loss


# Oracles beside the dynamic one.

cdef void learn_canonical(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil:
    """The static oracle: BREAK where gold does; else build the shortest pending gold arc of j (the
    local system: NO-ARC until there); else SHIFT. Where that is not legal, or another move costs
    less: the first cheapest."""
    cdef ViewC v = view(s)
    cdef int best = 0
    cdef int nearest = NONE
    cdef int i, k, name, wanted
    cdef CandidateC* c
    wanted = SHIFT
    if may_break(system, s, &v) and gold.sent_start[s.b] == 1:
        wanted = BREAK
    elif s.b < s.n:
        for k in range(1, s.n_lambda1 + 1):
            i = item(s, k)
            if i == s.n:
                if gold.head[s.b] == s.n and can_right_arc(system, s, k):
                    wanted, nearest = RIGHT_ARC, k
            elif gold.head[i] == s.b and can_left_arc(system, s, k):
                wanted, nearest = LEFT_ARC, k
                break
            elif gold.head[s.b] == i and can_right_arc(system, s, k):
                wanted, nearest = RIGHT_ARC, k
                break
    if nearest > 1 and not is_non_local(system):
        wanted, nearest = NO_ARC, 1
    for i in range(n):
        c = &candidates[i]
        c.learn = LEARN_NOT
        if c.cost < candidates[best].cost:
            best = i
    for i in range(n):
        c = &candidates[i]
        name = system.moves[c.move].name
        if name == wanted and (nearest == NONE or c.k == nearest):
            if c.cost == candidates[best].cost:
                best = i
            break
    candidates[best].learn = LEARN_ANY if candidates[best].label == NONE else LEARN_LABEL


cdef inline bint is_non_local(const SystemC* system) noexcept nogil:
    """Whether arcs are non-local."""
    return system.moves[1].name != NO_ARC


cdef void start(const SystemC* system, StateC* s) noexcept nogil:
    s.lists = 1
    s.root_first = system.explicit_root
    s.n_lambda1 = s.root_first
    s.root_label = system.root_label
    s.one_root = system.single_root


cdef class Covington(TransitionSystem):
    """Covington's system: arcs between the focus words, NO-ARC moves on to the next pair.

    Options:
        nonmonotonic: arcs may replace arcs and break cycles.
        explicit_root: ROOT is the first item of lambda1, so that arcs from ROOT are moves. Without:
            headless words of a final configuration hang off ROOT, labelled root_label.
        max_length: words further apart get no arc (0: no limit). Longer gold arcs are given up
            from the start: they cost the same whatever is done.
        single_root: one child of ROOT in each sentence.
        segment: BREAK splits documents into sentences.
        root_label: the label that arcs from ROOT, and they alone, take (None: any label; without
            explicit_root: none, and labels of gold roots are not judged).
    """
    def __init__(
        self, labels=None, *, bint nonmonotonic=False, bint explicit_root=False,
        int max_length=0, bint single_root=False, bint segment=False, root_label=None
    ):
        if max_length < 0:
            raise ValueError(f"max_length must be 1 or more, or 0 (no limit), not {max_length}.")
        self.begin(self._name(), {
            "nonmonotonic": bool(nonmonotonic),
            "explicit_root": bool(explicit_root),
            "max_length": max_length,
            "single_root": bool(single_root),
            "segment": bool(segment),
            "root_label": root_label,
        })
        self.c.lists = True
        self.c.one_focus = True
        self.c.max_length = max_length
        self.c.nonmonotonic = nonmonotonic
        self.c.explicit_root = explicit_root
        self.c.start = start
        self.c.loss = covington_loss
        self.c.costs = fill_costs
        self.c.oracles[STATIC] = learn_canonical
        self.add_move(SHIFT, can_shift, do_shift, shift_cost)
        self.c.shift = self.c.n_moves - 1
        if not self._is_non_local():
            self.add_move(NO_ARC, can_skip, do_skip, skip_cost)
        self._add_arcs(next_item if self._is_non_local() else <next_k_t>NULL)
        if self.c.segment:
            self.add_move(BREAK, can_break, do_break, break_cost).ends_sentence = True

    cdef int _add_arcs(self, next_k_t next_k) except -1:
        cdef MoveC* left = self.add_move(
            LEFT_ARC, can_left_arc, do_left_arc, left_arc_cost, focus_end, item_end, next_k
        )
        cdef MoveC* right = self.add_move(
            RIGHT_ARC, can_right_arc, do_right_arc, right_arc_cost, item_end, focus_end, next_k
        )
        self.c.left_arc = self.c.n_moves - 2
        self.c.right_arc = self.c.n_moves - 1
        left.crossing = CROSSES_BY_ARC
        right.crossing = CROSSES_BY_ARC
        if self.c.nonmonotonic:
            left.is_repair = left_deletes
            right.is_repair = right_deletes
        return 0

    def _name(self):
        return "covington"

    def _is_non_local(self):
        return False


cdef class NonLocalCovington(Covington):
    """Covington's system with non-local arcs: any item of lambda1 is one move away.

    Options: as those of ``Covington``.
    """
    def _name(self):
        return "nl_covington"

    def _is_non_local(self):
        return True


def move_costs(TransitionSystem system not None, State state not None, Gold gold not None):
    """Costs of the legal actions, one by one from the moves' cost functions (list of float).

    ``system.costs`` has the same in less time.
    """
    cdef costs_t at_once = system.c.costs
    system.c.costs = NULL
    try:
        return list(system.costs(state, gold).values())
    finally:
        system.c.costs = at_once
