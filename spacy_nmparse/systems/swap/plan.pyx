"""Plans for what is left of a sentence: a tree, a projective order, and the EAGER walk to it.

The items of a configuration are ROOT and the words without a head. They form a sequence: the stack
from its bottom up, then the buffer. SWAP exchanges two neighbours at the top of the stack that are
in text order. So two items that are out of text order can never be exchanged again.

A plan has four parts:

  tree   make_tree, complete_tree: an item keeps its gold head if that is an item; another item gets
         a head that makes no new crossing.
  order  make_order: the in-order traversal of the tree. Siblings and head stand as in the sequence,
         or as items that are out of text order demand (ties).
  walk   follow: Algorithm 1 of Björkelund & Nivre (2015), EAGER with this order. A walk that comes
         to the end gives all items their wanted heads. Where it gets stuck, it SWAPs S0 down to its
         head and makes a new order from there; if it cannot, it makes the arc that loses least.
  search improve: where the walk loses heads, it looks for a derivation that loses fewer, through at
         most MAX_TRIALS configurations.
"""
from spacy_nmparse.systems.errors cimport can_be_right
from spacy_nmparse.systems.gold cimport far_end
from spacy_nmparse.systems.state cimport NONE, B
from spacy_nmparse.systems.table cimport BREAK, LEFT_ARC, RIGHT_ARC, SHIFT, SWAP
from spacy_nmparse.systems.tabular cimport latest_end


cdef enum:
    MAX_TIES = 256
    MAX_TRIALS = 1000   # configurations that one search looks at


cdef struct TieC:      # below this head, one block must stand before another
    int head
    int left
    int right


cdef void make_room(const SwapC* tables, int n, PlanC* p) noexcept nogil:
    """Lay the arrays out in the gold tree's room of N_PLAN_ARRAYS times n + 2."""
    cdef int size = n + 2
    cdef int* room = tables.room
    p.n = n
    p.strict = False
    p.asked = NONE
    p.seq = room
    p.place = room + size
    p.head = room + 2 * size
    p.wanted = room + 3 * size
    p.order = room + 4 * size
    p.pending = room + 5 * size
    p.stack = room + 6 * size
    p.waiting = room + 7 * size
    p.block_start = room + 8 * size
    p.blocks = room + 9 * size
    p.low = room + 11 * size
    p.high = room + 12 * size


cdef void load(const StateC* s, const GoldC* gold, int move, bint static_, PlanC* p) noexcept nogil:
    """Lay out the sequence after the named move, or STAY. static_: the sentence ends where the
    static oracles end it."""
    cdef int far = NONE
    cdef int b = s.b
    cdef int taken = 0
    cdef int i, m
    make_room(swap_tables(gold), gold.n, p)
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
    elif s.system.segment and static_:
        p.end = b
        while p.end < s.n and not (p.end > s.start and gold_ends(s.system, gold, p.end)):
            p.end += 1
    elif s.system.segment:
        for i in range(1, m):
            far = max(far, far_end(gold, p.seq[i]))
        p.end = latest_end(s, gold, b, far)
    else:
        p.end = s.n
    for i in range(b, p.end):
        p.seq[m] = i
        m += 1
    p.size = m
    for i in range(m):
        p.place[p.seq[i]] = i


cdef int make_tree(
    const SystemC* system, const GoldC* gold, bint one_root, PlanC* p
) noexcept nogil:
    """Fill wanted, and head where it is wanted; make_order does the rest. Returns the items that
    are known to lose their gold head. one_root: of several children of ROOT all but one do."""
    cdef int lost = 0
    cdef int roots = 0
    cdef int i, w, g
    p.complete = True
    p.steady = True
    for i in range(1, p.size):
        w = p.seq[i]
        g = gold.head[w]
        p.wanted[w] = 0
        p.head[w] = NONE
        if g != NONE and has_item(p, g) and not (g == p.n and roots and one_root):
            p.wanted[w] = 1
            p.head[w] = g
            roots += g == p.n
            lost += not can_be_right(system, gold, w)
        else:
            lost += g != NONE
            p.complete = False
    return lost


cdef void complete_tree(PlanC* p) noexcept nogil:
    """Give the items without a wanted head one that makes no new crossing: the head of the shortest
    arc that spans their subtree, else that of the next subtree towards a root."""
    cdef int last = NONE
    cdef bint rooted = False
    cdef int i, k, w, x, length
    p.complete = True
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


cdef inline bint has_tie(
    const TieC* ties, int n_ties, int head, int left, int right
) noexcept nogil:
    cdef int i
    for i in range(n_ties):
        if ties[i].left == left and ties[i].right == right and ties[i].head == head:
            return True
    return False


cdef int find_ties(PlanC* p, TieC* ties) noexcept nogil:
    """Find pairs of blocks that can only stand in one order: an item of the one and an item of the
    other are out of text order. Where there are more than MAX_TIES, the plan is not steady."""
    cdef int n_ties = 0
    cdef int i, k, y, left, right, over
    for i in range(1, p.unread):
        for k in range(i + 1, p.unread):
            if p.seq[i] < p.seq[k]:
                continue
            # The lowest item above (or at) both: climb from the one, and each time from the other.
            over = p.seq[i]
            left = over
            while True:
                y = p.seq[k]
                right = y
                while y != over and y != p.n:
                    right = y
                    y = p.head[y]
                if y == over:
                    break
                left = over
                over = p.head[over]
            if has_tie(ties, n_ties, over, left, right):
                continue
            if n_ties == MAX_TIES:
                p.steady = False
                return n_ties
            ties[n_ties].head = over
            ties[n_ties].left = left
            ties[n_ties].right = right
            n_ties += 1
    return n_ties


cdef bint may_come(
    const TieC* ties, int n_ties, int head, int block, const int* blocks, int n_blocks
) noexcept nogil:
    """Whether none of the blocks below head must stand before this one."""
    cdef int i, k
    for i in range(n_ties):
        if ties[i].head == head and ties[i].right == block:
            for k in range(n_blocks):
                if blocks[k] == ties[i].left:
                    return False
    return True


cdef void sort_blocks(
    const TieC* ties, int n_ties, int head, int* blocks, int n_blocks
) noexcept nogil:
    """Let blocks stand as the ties demand, and else in the order in which they are."""
    cdef int i, k, block
    for i in range(n_blocks):
        for k in range(i, n_blocks):
            if may_come(ties, n_ties, head, blocks[k], blocks + i, n_blocks - i):
                break
        else:
            return
        block = blocks[k]
        while k > i:
            blocks[k] = blocks[k - 1]
            k -= 1
        blocks[i] = block


cdef void make_order(PlanC* p) noexcept nogil:
    """Complete the tree, and fill order: its in-order traversal. Blocks, that is, an item and the
    subtrees below it, stand in the order of the sequence, unless items are tied."""
    cdef TieC[MAX_TIES] ties
    cdef int n_ties = 0
    cdef int depth = 1
    cdef int count = 0
    cdef int i, k, w
    if not p.complete:
        complete_tree(p)
    # block_start and pending are by place here; pending serves as the fill pointer.
    for i in range(p.size + 1):
        p.block_start[i] = 0
    for i in range(p.size):
        p.block_start[i + 1] += 1
        if i:
            p.block_start[p.place[p.head[p.seq[i]]] + 1] += 1
    for i in range(p.size):
        p.block_start[i + 1] += p.block_start[i]
        p.pending[i] = p.block_start[i]
    for i in range(p.size):
        w = p.seq[i]
        if i:
            k = p.place[p.head[w]]
            p.blocks[p.pending[k]] = w
            p.pending[k] += 1
        p.blocks[p.pending[i]] = w
        p.pending[i] += 1
    for i in range(1, p.unread - 1):
        if p.seq[i] > p.seq[i + 1]:
            n_ties = find_ties(p, ties)
            break
    for i in range(n_ties):
        k = p.place[ties[i].head]
        sort_blocks(
            ties, n_ties, ties[i].head, p.blocks + p.block_start[k],
            p.block_start[k + 1] - p.block_start[k],
        )
    for i in range(p.size):
        p.pending[i] = p.block_start[i]
    p.stack[0] = 0
    while depth:
        i = p.stack[depth - 1]
        if p.pending[i] == p.block_start[i + 1]:
            depth -= 1
            continue
        w = p.blocks[p.pending[i]]
        p.pending[i] += 1
        if w == p.seq[i]:
            p.order[w] = count
            count += 1
        else:
            p.stack[depth] = p.place[w]
            depth += 1


cdef inline void count(PlanC* p, int move) noexcept nogil:
    if p.n_moves == p.asked:
        p.move = move
    p.n_moves += 1


cdef inline bint counts(const int* wanted, int w) noexcept nogil:
    return wanted == NULL or wanted[w]


cdef bint dig(PlanC* p, int n_stack, const int* head, const int* wanted) noexcept nogil:
    """Where the walk is stuck: let SWAPs bring S0 right above its head, and make a plan from there.
    False: they cannot."""
    cdef int s0 = p.stack[n_stack - 1]
    cdef int depth = n_stack - 2
    cdef int i
    if n_stack < 3:
        return False
    while depth > 0 and not (wanted[s0] and p.stack[depth] == head[s0]):
        if p.stack[depth] > s0:
            return False
        depth -= 1
    if depth == n_stack - 2:
        return False
    p.size = n_stack
    p.n_stack = depth + 2
    p.unread = n_stack
    for i in range(n_stack):
        p.seq[i] = p.stack[i]
    for i in range(n_stack - 1, depth + 1, -1):
        p.seq[i] = p.stack[i - 1]
    p.seq[depth + 1] = s0
    for i in range(n_stack):
        p.place[p.seq[i]] = i
    make_order(p)
    return True


cdef struct WalkC:
    const int* head
    const int* order
    const int* wanted
    int n_stack
    int n_waiting
    int following      # place of the next item of the buffer


cdef inline void begin_walk(PlanC* p, WalkC* t) noexcept nogil:
    """Begin where the plan's sequence has its stack end."""
    cdef int i
    t.n_stack = p.n_stack
    t.n_waiting = 0
    t.following = p.n_stack
    for i in range(p.size):
        p.pending[p.seq[i]] = 0
    for i in range(1, p.size):
        if counts(t.wanted, p.seq[i]):
            p.pending[t.head[p.seq[i]]] += 1
    for i in range(t.n_stack):
        p.stack[i] = p.seq[i]


cdef inline int ready(const SystemC* system, const PlanC* p, const WalkC* t) noexcept nogil:
    """S1 or S0, if it has all its dependents and the other one is its head; or NONE."""
    cdef int s0 = p.stack[t.n_stack - 1]
    cdef int s1 = p.stack[t.n_stack - 2] if t.n_stack > 1 else NONE
    cdef bint may_root = not system.single_root or (
        t.n_waiting == 0 and t.following == p.size
    )
    if t.n_stack > 2 and p.pending[s1] == 0 and (t.head[s1] == s0 or not counts(t.wanted, s1)):
        return s1
    if t.n_stack > 1 and p.pending[s0] == 0 and (t.n_stack > 2 or may_root) and (
        t.head[s0] == s1 or not counts(t.wanted, s0)
    ):
        return s0
    return NONE


cdef inline bint swap_or_shift(PlanC* p, WalkC* t) noexcept nogil:
    """SWAP, where S0 is before S1 in the order; else SHIFT. False: neither is possible."""
    cdef int s0 = p.stack[t.n_stack - 1]
    cdef int s1 = p.stack[t.n_stack - 2] if t.n_stack > 1 else NONE
    if t.order != NULL and t.n_stack > 2 and t.order[s0] < t.order[s1] and s1 < s0:
        t.n_stack -= 1
        p.stack[t.n_stack - 1] = s0
        p.waiting[t.n_waiting] = s1
        t.n_waiting += 1
        count(p, SWAP)
        return True
    if t.n_waiting:
        t.n_waiting -= 1
        p.stack[t.n_stack] = p.waiting[t.n_waiting]
    elif t.following < p.size:
        p.stack[t.n_stack] = p.seq[t.following]
        t.following += 1
    else:
        return False
    t.n_stack += 1
    count(p, SHIFT)
    return True


cdef inline int loses_least(const PlanC* p, const WalkC* t) noexcept nogil:
    """S1 or S0, whose arc to the other one loses fewer heads."""
    cdef int s0 = p.stack[t.n_stack - 1]
    cdef int s1 = p.stack[t.n_stack - 2] if t.n_stack > 1 else NONE
    if t.n_stack > 2 and (
        t.wanted[s1] * (t.head[s1] != s0) + p.pending[s1]
        < t.wanted[s0] * (t.head[s0] != s1) + p.pending[s0]
    ):
        return s1
    return s0


cdef inline int make_arc(PlanC* p, WalkC* t, int popped) noexcept nogil:
    """Make the arc into S0 or S1. Returns the wanted heads that are lost."""
    cdef int s0 = p.stack[t.n_stack - 1]
    cdef int s1 = p.stack[t.n_stack - 2] if t.n_stack > 1 else NONE
    cdef int lost = 0
    cdef int i, w
    count(p, RIGHT_ARC if popped == s0 else LEFT_ARC)
    if counts(t.wanted, popped):
        p.pending[t.head[popped]] -= 1
        lost += t.head[popped] != (s1 if popped == s0 else s0)
    if p.pending[popped]:
        lost += p.pending[popped]
        for i in range(t.n_stack):
            w = p.stack[i]
            if w != p.n and t.wanted[w] and t.head[w] == popped:
                p.wanted[w] = 0
    t.n_stack -= 1
    if popped != s0:
        p.stack[t.n_stack - 1] = s0
    return lost


cdef int follow(
    const SystemC* system, PlanC* p, const int* head, const int* order, const int* wanted
) noexcept nogil:
    """Walk to the end of the sentence. Returns the number of wanted heads that are lost.

    wanted NULL: all heads are wanted. order NULL: the walk never SWAPs. In both cases, and with
    p.strict, a walk that gets stuck ends with 1.
    """
    cdef WalkC t
    cdef int lost = 0
    cdef int popped
    t.head, t.order, t.wanted = head, order, wanted
    p.n_moves = 0
    p.move = NONE
    begin_walk(p, &t)
    while t.n_waiting or t.n_stack > 2 or t.following < p.unread:  # else any tree can be built
        popped = ready(system, p, &t)
        if popped == NONE:
            if swap_or_shift(p, &t):
                continue
            if wanted == NULL or order == NULL or p.strict:
                return 1
            p.steady = False
            if dig(p, t.n_stack, head, wanted):
                begin_walk(p, &t)
                continue
            popped = loses_least(p, &t)
        lost += make_arc(p, &t, popped)
    return lost


# Where the walk loses heads, a search looks for a better way.

cdef struct TrialC:
    PlanC* p
    const int* order   # item -> its place in gold's projective order
    bint single_root
    int n_stack
    int n_waiting
    int following      # place of the next item of the buffer
    int budget         # configurations that may still be looked at


cdef inline bint is_wanted(const PlanC* p, int w) noexcept nogil:
    """Whether w can still get its head: p.low tells which words are gone."""
    return p.wanted[w] and not p.low[p.head[w]]


cdef inline void made(PlanC* p, bint found, int move) noexcept nogil:
    """Take a move back, which is the wanted one if it leads to the end."""
    p.n_moves -= 1
    if found and p.n_moves == p.asked:
        p.move = move


cdef bint try_arc(TrialC* t, bint left, int allowed) noexcept nogil:
    """Try to finish after LEFT-ARC or RIGHT-ARC with so many heads lost from here on."""
    cdef PlanC* p = t.p
    cdef int s0 = p.stack[t.n_stack - 1]
    cdef int s1 = p.stack[t.n_stack - 2]
    cdef int d = s1 if left else s0
    cdef bint counted = is_wanted(p, d)
    cdef bint found
    if counted:
        p.pending[p.head[d]] -= 1
        allowed -= p.head[d] != (s0 if left else s1)
    p.low[d] = 1
    t.n_stack -= 1
    p.stack[t.n_stack - 1] = s0 if left else s1
    p.n_moves += 1
    found = try_all(t, allowed - p.pending[d])
    made(p, found, LEFT_ARC if left else RIGHT_ARC)
    p.stack[t.n_stack - 1] = s1
    p.stack[t.n_stack] = s0
    t.n_stack += 1
    p.low[d] = 0
    if counted:
        p.pending[p.head[d]] += 1
    return found


cdef bint try_swap(TrialC* t, int allowed) noexcept nogil:
    cdef PlanC* p = t.p
    cdef int s1 = p.stack[t.n_stack - 2]
    cdef bint found
    t.n_stack -= 1
    p.stack[t.n_stack - 1] = p.stack[t.n_stack]
    p.waiting[t.n_waiting] = s1
    t.n_waiting += 1
    p.n_moves += 1
    found = try_all(t, allowed)
    made(p, found, SWAP)
    t.n_waiting -= 1
    p.stack[t.n_stack] = p.stack[t.n_stack - 1]
    p.stack[t.n_stack - 1] = s1
    t.n_stack += 1
    p.waiting[t.n_waiting] = s1
    return found


cdef bint try_shift(TrialC* t, int allowed) noexcept nogil:
    cdef PlanC* p = t.p
    cdef bint waited = t.n_waiting > 0
    cdef bint found
    if waited:
        t.n_waiting -= 1
        p.stack[t.n_stack] = p.waiting[t.n_waiting]
    else:
        p.stack[t.n_stack] = p.seq[t.following]
        t.following += 1
    t.n_stack += 1
    p.n_moves += 1
    found = try_all(t, allowed)
    made(p, found, SHIFT)
    t.n_stack -= 1
    if waited:
        p.waiting[t.n_waiting] = p.stack[t.n_stack]
        t.n_waiting += 1
    else:
        t.following -= 1
    return found


cdef bint try_all(TrialC* t, int allowed) noexcept nogil:
    """Whether a derivation was found that loses no more heads than that."""
    cdef PlanC* p = t.p
    cdef int s0, s1
    cdef bint more = t.n_waiting > 0 or t.following < p.size
    cdef bint left, right, swap, swap_first
    cdef int left_loss, right_loss
    if allowed < 0 or t.budget == 0:
        return False
    t.budget -= 1
    if t.n_waiting == 0 and t.n_stack <= 2 and t.following >= p.unread:
        return not t.single_root or p.pending[p.n] <= allowed + 1
    if t.n_stack == 1:
        return try_shift(t, allowed)
    s0 = p.stack[t.n_stack - 1]
    s1 = p.stack[t.n_stack - 2]
    left = s1 != p.n
    right = left or not t.single_root or not more
    left_loss = p.pending[s1] + (is_wanted(p, s1) and p.head[s1] != s0) if left else 0
    right_loss = p.pending[s0] + (is_wanted(p, s0) and p.head[s0] != s1)
    if left and left_loss == 0 and try_arc(t, True, allowed):
        return True
    if right and right_loss == 0 and try_arc(t, False, allowed):
        return True
    swap = s1 < s0  # never ROOT: its number is the highest
    swap_first = t.order[s0] < t.order[s1]
    if swap and swap_first and try_swap(t, allowed):
        return True
    if more and try_shift(t, allowed):
        return True
    if swap and not swap_first and try_swap(t, allowed):
        return True
    if left and 0 < left_loss <= allowed and try_arc(t, True, allowed):
        return True
    return right and 0 < right_loss <= allowed and try_arc(t, False, allowed)


cdef int improve(
    const SystemC* system, const GoldC* gold, PlanC* p, int least, int lost
) noexcept nogil:
    """Search for a derivation that loses fewer heads than ``lost``, and at least ``least``. Returns
    the fewest that are found; or lost.

    From any configuration of the derivation that it finds, the search finds the rest of it again:
    it tries the same moves first, and has fewer configurations to look at.
    """
    cdef TrialC t
    cdef int i, allowed
    t.p = p
    t.order = swap_tables(gold).order
    t.single_root = system.single_root
    t.n_stack = p.n_stack
    t.n_waiting = 0
    t.following = p.n_stack
    t.budget = MAX_TRIALS
    p.n_moves = 0
    p.move = NONE
    for i in range(p.size):
        p.pending[p.seq[i]] = 0
        p.low[p.seq[i]] = 0
    for i in range(1, p.size):
        if p.wanted[p.seq[i]]:
            p.pending[p.head[p.seq[i]]] += 1
    for i in range(p.n_stack):
        p.stack[i] = p.seq[i]
    for allowed in range(least, lost):
        if try_all(&t, allowed):
            return allowed
    return lost
