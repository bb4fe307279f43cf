"""The loss of arc-standard configurations by dynamic programming (Goldberg, Sartorio & Satta 2014).

The items of a configuration are l_1, l_2, ..., the words of the stack from its top down, ROOT below
them, and the buffer. Arcs are made at the top of the stack only; so what comes to be there is
always one tree, of l_1 .. l_i and of the buffer up to some place, with one of these items as its
head h. It grows by the next item on the left or by a tree from the buffer, either of which becomes
a dependent of h or its new head.

Most items need not enter that table. r_1, r_2, ... are the buffer words that have a gold arc with
the stack, and, where a word has dependents on the stack, the heads above it. All other buffer words
are in gold subtrees that can be built before they meet the stack, and stand for no choice (a word
without a known head can be attached anywhere). A stack word without a gold arc to another of these
items is a dependent of whatever comes next to it, for the price of its head.

Then T(i, j, h) is the least number of errors among those items of l_1 .. l_i, r_1 .. r_j that are
not h: cubic in the number of linked items, of which there are few. It is exact where no gold arcs
cross, and a lower bound where some do. On either side the MAX_SIDE items nearest to the stack's top
enter it; others are taken to lose nothing.
"""
from spacy_nmparse.systems.errors cimport can_be_right
from spacy_nmparse.systems.gold cimport far_end, first_child
from spacy_nmparse.systems.sentences cimport errors_behind, may_end
from spacy_nmparse.systems.state cimport NONE
from spacy_nmparse.systems.views cimport height, stack_item


cdef enum:   # gold head of an item where it is not the number of an item
    ROOT_ITEM = -1
    LOST = -2
    FREE = -3


cdef enum:
    INFINITY = 1 << 14


cdef inline bint on_stack(const StateC* s, const ViewC* v, int w) noexcept nogil:
    return w == v.top or 0 <= s.position[w] < v.below


cdef int latest_end(const StateC* s, const GoldC* gold, int b, int far) noexcept nogil:
    """Where the sentence ends at the latest: at a gold start from b on, or at the first place that
    may be one and that no gold arc crosses any more. far: where those of words before b lead."""
    cdef int e
    for e in range(b, gold.n):
        if may_end(s, gold, e) and (gold.sent_start[e] == 1 or far < e):
            return e
        far = max(far, far_end(gold, e))
    return gold.n


cdef int view_end(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil:
    """Where the view's sentence ends at the latest."""
    cdef int far = NONE
    cdef int i
    if v.closed:
        return v.b
    if not s.system.segment:
        return gold.n
    for i in range(1, height(v)):
        far = max(far, far_end(gold, stack_item(s, v, i)))
    return latest_end(s, gold, v.b, far)


cdef inline void insert(int* right, int* n_right, int w) noexcept nogil:
    """Put w among the sorted right items, of which the first MAX_SIDE are kept."""
    cdef int i = n_right[0]
    cdef int k
    while i > 0 and right[i - 1] > w:
        i -= 1
    if i == MAX_SIDE or (i > 0 and right[i - 1] == w):
        return
    for k in range(min(n_right[0], MAX_SIDE - 1), i, -1):
        right[k] = right[k - 1]
    right[i] = w
    n_right[0] = min(n_right[0] + 1, MAX_SIDE)


cdef inline int place_right(const int* right, int n_right, int w) noexcept nogil:
    """Where w is among the right items, or NONE."""
    cdef int low = 0
    cdef int high = n_right
    cdef int middle
    while low < high:
        middle = (low + high) // 2
        if right[middle] < w:
            low = middle + 1
        else:
            high = middle
    return low if low < n_right and right[low] == w else NONE


cdef inline int wrong(const int* head, int h, int d) noexcept nogil:
    """Errors in item d when item h is its head."""
    return head[d] != h and head[d] != FREE


cdef struct ItemsC:                 # the linked items
    int n_left
    int n_right
    int lost                        # words that are none of them and lose their gold head
    int[MAX_SIDE] left              # l_1 .. l_L
    int[MAX_SIDE] right             # r_1 .. r_R, in text order
    int[2 * MAX_SIDE] head          # l_1 .. l_L, r_1 .. r_R -> the item that is its gold head


cdef int tabular_rest(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil:
    """Errors to come: in words on the stack and in the buffer, and in undecided starts."""
    cdef int[MAX_SIDE + 1] with_root   # j -> errors when r_1 .. r_j hang below ROOT, too
    cdef int end = view_end(s, gold, v)
    cdef ItemsC items
    items.n_left = items.n_right = items.lost = 0
    find_right(s, gold, v, end, &items)
    find_left(s, gold, v, &items)
    find_heads(s, gold, v, end, &items)
    fill_table(s.system, items.head, items.n_left, items.n_right, with_root)
    return least_over_ends(s, gold, v, end, &items, with_root)


cdef inline void find_right(
    const StateC* s, const GoldC* gold, const ViewC* v, int end, ItemsC* items
) noexcept nogil:
    """Find r_1 .. r_R, and let s.entry tell which stack words are linked."""
    cdef int i, k, w, g
    for i in range(1, height(v)):
        s.entry[stack_item(s, v, i)] = 0
    for i in range(height(v)):
        w = stack_item(s, v, i)
        if w != gold.n:
            g = gold.head[w]
            if g != NONE and on_stack(s, v, g):
                s.entry[w] = 1
                s.entry[g] = 1
            elif v.b <= g < end:
                s.entry[w] = 1
                while v.b <= g < end:
                    insert(items.right, &items.n_right, g)
                    g = gold.head[g]
        for k in range(first_child(gold, w, v.b), gold.child_offset[w + 1]):
            if gold.children[k] >= end:
                break
            s.entry[w] = 1
            insert(items.right, &items.n_right, gold.children[k])


cdef inline void find_left(
    const StateC* s, const GoldC* gold, const ViewC* v, ItemsC* items
) noexcept nogil:
    """Find l_1 .. l_L, of those that are linked; then s.entry tells their numbers."""
    cdef int i, w
    for i in range(height(v) - 1, 0, -1):
        w = stack_item(s, v, i)
        if not s.entry[w]:
            items.lost += gold.head[w] != NONE
        elif items.n_left < MAX_SIDE:
            s.entry[w] = items.n_left
            items.left[items.n_left] = w
            items.n_left += 1
        else:
            s.entry[w] = FREE


cdef inline void find_heads(
    const StateC* s, const GoldC* gold, const ViewC* v, int end, ItemsC* items
) noexcept nogil:
    """Fill the gold heads of the items."""
    cdef int n_right = items.n_right
    cdef int i, w, g, head
    for i in range(items.n_left + n_right):
        w = items.left[i] if i < items.n_left else items.right[i - items.n_left]
        g = gold.head[w]
        if g == NONE:
            head = FREE
        elif not can_be_right(s.system, gold, w):
            head = LOST
        elif g == gold.n:
            head = ROOT_ITEM
        elif on_stack(s, v, g):
            head = s.entry[g]
        else:
            head = place_right(items.right, n_right, g)
            if head != NONE:
                head += items.n_left
            elif n_right == MAX_SIDE and items.right[n_right - 1] < g < end:
                head = FREE
            else:
                head = LOST
        items.head[i] = head


cdef inline int least_over_ends(
    const StateC* s, const GoldC* gold, const ViewC* v, int end, const ItemsC* items,
    const int* with_root
) noexcept nogil:
    """Errors to come with the best place to end the sentence, up to ``end``."""
    cdef int lost = items.lost
    cdef int least = NONE
    cdef int j = 0
    cdef int k, e, w, g
    for e in range(v.b, end + 1):
        if e == end or (s.system.segment and may_end(s, gold, e)):
            k = with_root[j] + lost
            if e < gold.n:
                k += errors_behind(s, gold, e)
            least = k if least == NONE else min(least, k)
        if e == end:
            break
        # e joins the words before the end: its dependents there are not across any more.
        for k in range(first_child(gold, e, v.b), gold.child_offset[e + 1]):
            w = gold.children[k]
            if w >= e:
                break
            lost -= (
                place_right(items.right, items.n_right, w) == NONE
                and can_be_right(s.system, gold, w)
            )
        if j < items.n_right and items.right[j] == e:
            j += 1
            continue
        g = gold.head[e]
        if g == NONE:
            continue
        if not can_be_right(s.system, gold, e) or (e < g < gold.n) or (
            g < v.b and not on_stack(s, v, g)
        ):
            lost += 1
    return least


cdef void fill_table(
    const SystemC* system, const int* head, int n_left, int n_right, int* with_root
) noexcept nogil:
    """Errors in l_1 .. l_L, r_1 .. r_j below ROOT, for every j.

    table[j][h] is T(i, j, h), for one i after the other.
    """
    cdef short[(MAX_SIDE + 1) * 2 * MAX_SIDE] table
    cdef int size = n_left + n_right
    cdef short* row
    cdef short* before
    cdef int i, j, h, left, r, best
    for j in range(n_right + 1):
        for h in range(size):
            table[j * size + h] = INFINITY
    for i in range(0 if n_left == 0 else 1, n_left + 1):
        left = i - 1
        for j in range(n_right + 1):
            row = &table[j * size]
            if left >= 0:
                # l_i: the head of the tree of l_1 .. l_(i-1), r_1 .. r_j, or a dependent.
                best = 0 if i == 1 and j == 0 else INFINITY
                for h in range(size):
                    if row[h] < INFINITY:
                        best = min(best, row[h] + wrong(head, left, h))
                        row[h] += wrong(head, h, left)
                row[left] = best
            if j == 0:
                continue
            # r_j: the head of the tree of l_1 .. l_i, r_1 .. r_(j-1), or a dependent.
            before = &table[(j - 1) * size]
            r = n_left + j - 1
            best = 0 if i == 0 and j == 1 else row[r]
            for h in range(size):
                if before[h] < INFINITY:
                    best = min(best, before[h] + wrong(head, r, h))
                    row[h] = min(row[h], before[h] + wrong(head, h, r))
            row[r] = best
    for j in range(n_right + 1):
        best = 0 if n_left == 0 and j == 0 else INFINITY
        for h in range(size):
            if table[j * size + h] < INFINITY:
                best = min(best, table[j * size + h] + wrong(head, ROOT_ITEM, h))
        if not system.single_root and j > 0:
            best = min(best, with_root[j - 1] + wrong(head, ROOT_ITEM, n_left + j - 1))
        with_root[j] = best
