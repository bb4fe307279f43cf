"""The arc-swift system (Qi & Manning 2017): arc-eager whose arcs reach down the stack.

A configuration is (stack, buffer, arcs), as in arc-eager: ROOT is the last buffer item; final: the
buffer is empty and the stack holds ROOT alone. b0 is the first buffer item, s_k the k-th stack item
from the top. An arc joins b0 to s_k and pops s_1 .. s_(k-1), all of which have heads: what
arc-eager needs REDUCEs for. Arc-eager's invariants hold: a stack item that has a head has the item
right beneath it as its head, and the bottom of the stack is headless. So no move can close a cycle;
only s_m, the topmost headless item, can get a head; and b0 can get s_1 .. s_m.

single_root. ROOT takes the last headless item only. While there are more of them and b0 is ROOT,
s_m goes back to the buffer for a RIGHT-ARC_k, which attaches it to the k-th item beneath it.

Loss. A stack item that has a head is never in the way; so from each configuration the trees can be
reached that monotonic arc-eager reaches from it, and on a projective gold tree, a word w with gold
head g can still get it iff
  * the arc g -> w is built (with the right label); or
  * w is in the buffer, and g in the buffer or on the stack; or
  * w is on the stack, headless, and g in the buffer;
and all words that can, can together; loss = words that cannot, plus
  * single_root: of several gold roots that are each reachable in one sentence, all but one; if a
    headless item stays on the stack to the end, what that costs and gains (see ``swift_inner``);
  * segment: missed and invented sentence starts, and arcs across.
A cost is the difference of two losses; tests/exhaustive.py compares both with search over all small
trees and all configurations.
"""
from spacy_nmparse.systems.errors cimport can_be_right, is_lost, least_error
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.moves cimport b0_end, can_shift, do_shift, root_last
from spacy_nmparse.systems.names cimport new_oracle
from spacy_nmparse.systems.sentences cimport (
    break_rest,
    can_break,
    do_break,
    gold_breaks,
    least_rest,
    missed_start,
    must_break,
    shift_rest,
)
from spacy_nmparse.systems.state cimport NONE, B, S, StateC, pop, push, read, state_add_arc
from spacy_nmparse.systems.static cimport find_move, use_static
from spacy_nmparse.systems.table cimport (
    BREAK,
    LEARN_NOT,
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
    CandidateC,
    MoveTable,
    learn_cheapest,
)
from spacy_nmparse.systems.views cimport (
    ViewC,
    height,
    is_headed,
    place,
    push_in_view,
    stack_item,
    view,
)


cdef inline int children_between(
    const StateC* s, const GoldC* gold, int w, int b, int e
) noexcept nogil:
    """Gold dependents of w, to be had, from b to e."""
    cdef int found = 0
    cdef int i, child
    for i in range(gold.child_offset[w + 1] - 1, gold.child_offset[w] - 1, -1):
        child = gold.children[i]
        if child < b:
            break
        found += child < e and can_be_right(s.system, gold, child)
    return found


cdef int swift_inner(const StateC* s, const GoldC* gold, const ViewC* v, int e) noexcept nogil:
    """Words on the stack and from b to e that lose their gold head when the sentence ends at e."""
    cdef int n = gold.n
    cdef int lost = 0
    cdef int roots = 0      # that can be had, in the buffer
    cdef int block = 0      # the topmost headless item beneath the i-th
    cdef int i, w, g, least
    for w in range(v.b, e):
        g = gold.head[w]
        if g == n and can_be_right(s.system, gold, w):
            roots += 1
        else:
            lost += is_lost(s, gold, w, v.b <= g < e or (g < n and place(s, v, g) != NONE))
    for i in range(height(v)):
        if not is_headed(s, v, i):
            w = stack_item(s, v, i)
            g = gold.head[w]
            lost += is_lost(s, gold, w, v.b <= g < e or (g == n and not s.system.single_root))
    if not s.system.single_root:
        return lost
    # The headless items all leave the stack, or some stay to the end, the topmost of them the i-th:
    # then words of the buffer cannot be attached to what is beneath it, nor to ROOT; it can, to
    # what is beneath it up to the next headless item; and the bottom is the root.
    least = lost + max(0, roots - 1)
    for i in range(height(v)):
        w = stack_item(s, v, i)
        g = gold.head[w]
        if i > 0:
            lost += children_between(s, gold, stack_item(s, v, i - 1), v.b, e)
        if is_headed(s, v, i):
            continue
        lost -= is_lost(s, gold, w, v.b <= g < e)
        if i == 0:
            lost += roots + is_lost(s, gold, w, g == n)
        else:
            lost += is_lost(s, gold, w, g != NONE and g < n and block <= place(s, v, g) < i)
        block = i
        least = lost if e == v.b else min(least, lost)
    return least


cdef int swift_rest(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil:
    """Errors to come."""
    return least_rest(s, gold, v, swift_inner, s.system.single_root)


cdef int open_k(const StateC* s) noexcept nogil:
    """m, where s_m is the topmost headless stack item; NONE: the stack is empty."""
    cdef int k
    for k in range(1, s.n_stack + 1):
        if s.head[S(s, k - 1)] == NONE:
            return k
    return NONE


# SHIFT: (S, b0|B, A) => (S|b0, B, A). ROOT only to an empty stack. b0 loses a head on the stack,
# and the headless dependents there.


# LEFT-ARC_k(l): (S|s_k|..|s_1, b0|B, A) => (S, b0|B, A + b0 -l-> s_k). s_k is headless, those above
# it are not. single_root: from ROOT only to the last stack item. s_k loses a head other than b0,
# and s_1 .. s_k their dependents in the buffer.

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil:
    cdef int b0 = B(s, 0)
    if s.n_stack == 0 or b0 == NONE or must_break(s) or k != open_k(s):
        return False
    return b0 != s.n or not s.system.single_root or k == s.n_stack


cdef void do_left_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int b0 = B(s, 0)
    while k > 1:
        pop(s)
        k -= 1
    state_add_arc(s, b0, pop(s), l)


cdef int left_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    v.below -= k
    v.has_left = True
    return least_error(s, gold, B(s, 0), S(s, k - 1)) + swift_rest(s, gold, &v)


cdef int left_arc_dependent(const StateC* s, int k) noexcept nogil:
    return S(s, k - 1)


cdef int left_arc_k(const StateC* s, int k) noexcept nogil:
    return open_k(s) if k == 0 else NONE


# RIGHT-ARC_k(l): (S|s_k|..|s_1, b0|B, A) => (S|s_k|b0, B, A + s_k -l-> b0). s_1 .. s_(k-1) have
# heads; b0 is not ROOT. single_root, b0 is ROOT, s_m not the last headless item:
# (S|t_k|..|t_1|s_m|..|s_1, [ROOT], A) => (S|t_k|s_m, [ROOT], A + t_k -l-> s_m). t_1 .. t_(k-1) have
# heads. b0 loses a head other than s_k, and the headless dependents on the stack; s_1 .. s_(k-1)
# lose their dependents behind b0.

cdef inline int n_put_back(const StateC* s) noexcept nogil:
    """How many stack items go, that b0 be a word: s_1 .. s_m, of which s_m is attached."""
    return open_k(s) if B(s, 0) == s.n else 0


cdef bint can_right_arc(const StateC* s, int k) noexcept nogil:
    cdef int b0 = B(s, 0)
    cdef int first, i
    if s.n_stack == 0 or b0 == NONE or must_break(s):
        return False
    if b0 == s.n and not s.system.single_root:
        return False
    first = n_put_back(s)
    if first + k > s.n_stack:
        return False
    for i in range(first, first + k - 1):
        if s.head[S(s, i)] == NONE:
            return False
    return True


cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int dependent = right_arc_dependent(s, k)
    k += n_put_back(s)
    while k > 1:
        pop(s)
        k -= 1
    if dependent == B(s, 0):
        read(s)
    state_add_arc(s, S(s, 0), dependent, l)
    push(s, dependent)


cdef int right_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    cdef int dependent = right_arc_dependent(s, k)
    cdef int errors = least_error(s, gold, right_arc_head(s, k), dependent)
    v.below -= n_put_back(s) + k - 1
    if B(s, 0) != s.n:
        errors += missed_start(s, gold)
        push_in_view(s, &v, True)
    else:
        v.top = dependent
        v.headed = True
        v.has_left = False
    return errors + swift_rest(s, gold, &v)


cdef int right_arc_head(const StateC* s, int k) noexcept nogil:
    return S(s, n_put_back(s) + k - 1)


cdef int right_arc_dependent(const StateC* s, int k) noexcept nogil:
    cdef int b0 = B(s, 0)
    return S(s, open_k(s) - 1) if b0 == s.n else b0


cdef int right_arc_k(const StateC* s, int k) noexcept nogil:
    if k > 0 and s.head[right_arc_head(s, k)] == NONE:
        return NONE
    return k + 1 if n_put_back(s) + k < s.n_stack else NONE


# The other oracles.

cdef int wanted_move(
    const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil:
    """BREAK where gold does; else the gold arc from b0 to the stack; else the one from the stack to
    b0; else SHIFT."""
    cdef int least = candidates[0].cost
    cdef int i
    cdef const CandidateC* c
    for i in range(1, n):
        least = min(least, candidates[i].cost)
    for i in range(n):
        c = &candidates[i]
        if c.cost == least and c.dependent != NONE and gold.head[c.dependent] == c.head:
            return i
    return find_move(s, candidates, n, BREAK if gold_breaks(s, gold) else SHIFT, 1)


cdef void learn_combined(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """Learn the moves of least cost, but not SHIFT where b0 can have its gold arc from the stack
    now: that b0 could still have it when only ROOT is left is not relied on (the idea of HGJ13,
    section 6)."""
    cdef int i
    cdef int shift = NONE
    cdef bint found = False
    cdef CandidateC* c
    learn_cheapest(s, gold, push_label, candidates, n)
    for i in range(n):
        c = &candidates[i]
        if s.system.moves[c.move].name == SHIFT:
            shift = i
        elif s.system.moves[c.move].name == RIGHT_ARC and c.learn != LEARN_NOT:
            found = found or gold.head[c.dependent] == c.head
    if found and shift != NONE:
        candidates[shift].learn = LEARN_NOT


cdef int nth_item(const StateC* s, int k) noexcept nogil:
    return S(s, k - 1)


TEXTS = {
    "stack": "Words that were read and can still get arcs; the top is the last one shown.",
    "buffer": "What is to come, the next one first. ROOT is the last item.",
    "SHIFT": "The first item of the buffer goes onto the stack, without a head so far. ROOT only "
    "goes onto an empty stack: that ends the sentence.",
    "LEFT-ARC": "The first item of the buffer becomes the head of the k-th word of the stack, "
    "counted from the top, which leaves the stack with all words above it. Only the topmost word "
    "without a head can be the dependent. The number in the move's name is k; without a number, k "
    "is 1.",
    "RIGHT-ARC": "The k-th word of the stack, counted from the top, becomes the head of the first "
    "word of the buffer, which goes onto the stack; the words above the k-th, which must have "
    "heads, leave it. The number in the move's name is k; without a number, k is 1.",
    "BREAK": "The sentence ends before the first word of the buffer, where the next one starts as "
    "soon as the stack is empty.",
}
SINGLE_ROOT = (
    " When only ROOT is left in the buffer, the dependent is the last word without a head."
)


cdef class ArcSwift(MoveTable):
    """The arc-swift system. Its options are those of every system."""
    def __init__(self, labels=None, **options):
        self.begin("arc_swift", options)
        self.texts = dict(TEXTS)
        if self.c.single_root:
            self.texts["RIGHT-ARC"] += SINGLE_ROOT
        self.c.projective = True
        self.c.item = nth_item
        self.c.start = root_last
        self.c.rest = swift_rest
        use_static(&self.c, wanted_move)
        self.c.oracles[new_oracle("combined")] = learn_combined
        self.add_move(SHIFT, can_shift, do_shift, NULL, shift_rest)
        self.add_move(
            LEFT_ARC, can_left_arc, do_left_arc, NULL, left_arc_rest, b0_end, left_arc_dependent,
            left_arc_k,
        )
        self.add_move(
            RIGHT_ARC, can_right_arc, do_right_arc, NULL, right_arc_rest, right_arc_head,
            right_arc_dependent, right_arc_k,
        )
        self.add_break(can_break, do_break, NULL, break_rest)
