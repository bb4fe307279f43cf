"""Plans for what is left of a sentence: a tree, a projective order, and the EAGER walk to it.

The items of a configuration, ROOT and the words without a head, stand in a sequence: the stack from
its bottom up, then the buffer. SWAP exchanges neighbours of it that are in text order, at the top
of the stack; so items that are out of text order can never be exchanged again.

A plan is made for the sequence as it is: each item keeps its gold head if that is an item, too;
others get a head that makes no new crossing (make_tree). The projective order is the in-order
traversal of that tree, siblings and head taken in the order of the sequence (make_order). The walk
(follow) is Algorithm 1 of Björkelund & Nivre (2015), that is, EAGER with the plan's order. If it
comes to an end, all wanted heads are right. If it gets stuck it makes the arc that loses least.
"""
from spacy_nmparse.systems.state cimport NONE, B
from spacy_nmparse.systems.system cimport BREAK, LEFT_ARC, RIGHT_ARC, SHIFT, SWAP
from spacy_nmparse.systems.tabular cimport can_be_right, far_end, sentence_end


cdef void make_room(const GoldC* gold, PlanC* p) noexcept nogil:
    """Lay the arrays out in the gold tree's room of N_PLAN_ARRAYS times n + 2."""
    cdef int size = gold.n + 2
    cdef int* room = gold.swap.room
    p.n = gold.n
    p.seq = room
    p.place = room + size
    p.head = room + 2 * size
    p.wanted = room + 3 * size
    p.order = room + 4 * size
    p.pending = room + 5 * size
    p.stack = room + 6 * size
    p.waiting = room + 7 * size
    p.kid_start = room + 8 * size
    p.kids = room + 9 * size
    p.low = room + 10 * size
    p.high = room + 11 * size


cdef void load(
    const SystemC* system, const StateC* s, const GoldC* gold, int move, bint static_, PlanC* p
) noexcept nogil:
    """Lay out the sequence after the named move, or STAY. static_: the sentence ends where the
    static oracles end it."""
    cdef int far = NONE
    cdef int b = s.b
    cdef int taken = 0
    cdef int i, m
    make_room(gold, p)
    m = s.n_stack
    for i in range(m):
        p.seq[i] = s.stack[i]
    if move == LEFT_ARC:
        m -= 1
        p.seq[m - 1] = s.stack[m]
    elif move == RIGHT_ARC:
        m -= 1
    elif move == SWAP:
        p.seq[m - 2] = s.stack[m - 1]
        p.seq[m - 1] = s.stack[m - 2]
    elif move == SHIFT:
        p.seq[m] = B(s, 0)
        m += 1
        taken = 1
        b += s.n_rebuffer == 0
    p.n_stack = m - (move == SWAP)
    for i in range(s.n_rebuffer - taken - 1, -1, -1):
        p.seq[m] = s.rebuffer[i]
        m += 1
    p.unread = m
    if s.end < s.n or move == BREAK:
        p.end = b
    elif system.segment and static_:
        p.end = b
        while p.end < s.n and not (p.end > s.start and gold_ends(system, gold, p.end)):
            p.end += 1
    elif system.segment:
        for i in range(1, m):
            far = max(far, far_end(gold, p.seq[i]))
        p.end = sentence_end(s, gold, b, far)
    else:
        p.end = s.n
    for i in range(b, p.end):
        p.seq[m] = i
        m += 1
    p.size = m
    for i in range(m):
        p.place[p.seq[i]] = i


cdef int make_tree(const SystemC* system, const GoldC* gold, PlanC* p) noexcept nogil:
    """Fill head and wanted. Returns the items that are known to lose their gold head."""
    cdef int lost = 0
    cdef int roots = 0
    cdef bint all_wanted = True
    cdef int i, w, g
    for i in range(1, p.size):
        w = p.seq[i]
        g = gold.head[w]
        p.wanted[w] = 0
        p.head[w] = NONE
        if g != NONE and has_item(p, g) and not (g == p.n and roots and system.single_root):
            p.wanted[w] = 1
            p.head[w] = g
            roots += g == p.n
            lost += not can_be_right(system, gold, w)
        else:
            lost += g != NONE
            all_wanted = False
    if not all_wanted:
        complete_tree(p)
    return lost


cdef void complete_tree(PlanC* p) noexcept nogil:
    """Give the items without a wanted head one that makes no new crossing: the head of the shortest
    arc that spans their subtree, else that of the next subtree towards a root."""
    cdef int last = NONE
    cdef bint rooted = False
    cdef int i, k, w, x, length
    for i in range(1, p.size):
        w = p.seq[i]
        p.low[w] = i
        p.high[w] = i
    for i in range(1, p.size):
        w = p.seq[i]
        rooted = rooted or p.head[w] == p.n
        while p.wanted[w] and p.head[w] != p.n:
            w = p.head[w]
            p.low[w] = min(p.low[w], i)
            p.high[w] = max(p.high[w], i)
    for i in range(1, p.size):
        w = p.seq[i]
        if p.wanted[w]:
            continue
        length = p.size
        for k in range(1, p.size):
            x = p.seq[k]
            if p.wanted[x] and p.head[x] != p.n and (
                min(k, p.place[p.head[x]]) < p.low[w] and p.high[w] < max(k, p.place[p.head[x]])
                and abs(k - p.place[p.head[x]]) < length
            ):
                length = abs(k - p.place[p.head[x]])
                p.head[w] = p.head[x]
    # What nothing spans: towards the root that comes next, or behind the last one.
    for i in range(1, p.size):
        w = p.seq[i]
        if p.head[w] == p.n:
            if last != NONE and p.head[last] == NONE:
                p.head[last] = w
            last = w
        elif p.head[w] == NONE:
            if not rooted:
                rooted = True
                p.head[w] = p.n
            elif last != NONE and p.head[last] == NONE:
                p.head[last] = w
            elif last != NONE:
                p.head[w] = last
            last = w


cdef void make_order(PlanC* p) noexcept nogil:
    """Fill order: the in-order traversal of the tree, in the order of the sequence."""
    cdef int i, w, k
    cdef int depth = 1
    cdef int count = 0
    # kid_start and pending are by place here; pending serves as the fill pointer.
    for i in range(p.size + 1):
        p.kid_start[i] = 0
    for i in range(1, p.size):
        p.kid_start[p.place[p.head[p.seq[i]]] + 1] += 1
    for i in range(p.size):
        p.kid_start[i + 1] += p.kid_start[i]
        p.pending[i] = p.kid_start[i]
        p.order[p.seq[i]] = NONE
    for i in range(1, p.size):
        k = p.place[p.head[p.seq[i]]]
        p.kids[p.pending[k]] = i
        p.pending[k] += 1
    for i in range(p.size):
        p.pending[i] = p.kid_start[i]
    p.stack[0] = 0
    while depth:
        i = p.stack[depth - 1]
        w = p.seq[i]
        k = p.kids[p.pending[i]] if p.pending[i] < p.kid_start[i + 1] else p.size
        if p.order[w] == NONE and k > i:
            p.order[w] = count
            count += 1
        elif k < p.size:
            p.pending[i] += 1
            p.stack[depth] = k
            depth += 1
        else:
            depth -= 1


cdef inline bint counts(const int* wanted, int w) noexcept nogil:
    return wanted == NULL or wanted[w]


cdef int follow(
    const SystemC* system, PlanC* p, const int* head, const int* order, const int* wanted
) noexcept nogil:
    """Walk to the end of the sentence. Returns the number of wanted heads that are lost.

    wanted NULL: all heads are wanted, and the walk ends with 1 where it gets stuck.
    """
    cdef int lost = 0
    cdef int n_stack = p.n_stack
    cdef int n_waiting = 0
    cdef int following = p.n_stack
    cdef bint may_root
    cdef int i, s0, s1, popped, onto
    for i in range(p.size):
        p.pending[p.seq[i]] = 0
    for i in range(1, p.size):
        if counts(wanted, p.seq[i]):
            p.pending[head[p.seq[i]]] += 1
    for i in range(n_stack):
        p.stack[i] = p.seq[i]
    while True:
        if n_waiting == 0 and n_stack <= 2 and following >= p.unread:
            return lost  # from here on every tree can be built
        s0 = p.stack[n_stack - 1]
        s1 = p.stack[n_stack - 2] if n_stack > 1 else NONE
        may_root = not system.single_root or (n_waiting == 0 and following == p.size)
        popped = NONE
        onto = s0
        if n_stack > 2 and p.pending[s1] == 0 and (head[s1] == s0 or not counts(wanted, s1)):
            popped = s1
        elif n_stack > 1 and p.pending[s0] == 0 and (n_stack > 2 or may_root) and (
            head[s0] == s1 or not counts(wanted, s0)
        ):
            popped = s0
        elif n_stack > 2 and order[s0] < order[s1] and s1 < s0:
            n_stack -= 1
            p.stack[n_stack - 1] = s0
            p.waiting[n_waiting] = s1
            n_waiting += 1
            continue
        elif n_waiting:
            n_waiting -= 1
            p.stack[n_stack] = p.waiting[n_waiting]
            n_stack += 1
            continue
        elif following < p.size:
            p.stack[n_stack] = p.seq[following]
            n_stack += 1
            following += 1
            continue
        if popped == NONE:  # stuck
            if wanted == NULL:
                return 1
            popped = s0
            if n_stack > 2 and (
                wanted[s1] * (head[s1] != s0) + p.pending[s1]
                < wanted[s0] * (head[s0] != s1) + p.pending[s0]
            ):
                popped = s1
        if popped == s0:
            onto = s1
        if counts(wanted, popped):
            p.pending[head[popped]] -= 1
            lost += head[popped] != onto
        if p.pending[popped]:
            lost += p.pending[popped]
            for i in range(n_stack):
                s1 = p.stack[i]
                if s1 != p.n and wanted[s1] and head[s1] == popped:
                    p.wanted[s1] = 0
        n_stack -= 1
        if popped != s0:
            p.stack[n_stack - 1] = s0
