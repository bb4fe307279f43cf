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
    headless item stays on the stack to the end, what that costs and gains (see ``inner``);
  * segment: missed and invented sentence starts, and arcs across.
A cost is the difference of two losses; tests/exhaustive.py compares both with search over all small
trees and all configurations.
"""
from spacy_nmparse.systems.arc_eager cimport can_break, can_shift, do_break, do_shift
from spacy_nmparse.systems.arc_standard cimport (
    costs_of_rests,
    label_error,
    least_error,
    settled,
)
from spacy_nmparse.systems.state cimport NONE, B, S, pop, push, read, state_add_arc
from spacy_nmparse.systems.system cimport (
    BREAK,
    COMBINED,
    LEARN_ANY,
    LEARN_LABEL,
    LEARN_NOT,
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
    STATIC,
    CandidateC,
    MoveC,
    learn_cheapest,
)
from spacy_nmparse.systems.tabular cimport can_be_right, far_end, last_child


cdef struct ViewC:   # a configuration, told as the difference to a StateC
    int below        # that many items of the state's stack, from the bottom,
    int top          # and this word on them, or NONE
    bint headed      # whether it has a head
    int b            # the next unread word
    bint has_left    # it has a dependent
    bint closed      # BREAK has been made before it


cdef inline ViewC view(const StateC* s) noexcept nogil:
    cdef ViewC v
    v.below = s.n_stack
    v.top = NONE
    v.headed = False
    v.b = s.b
    v.has_left = s.b < s.n and s.n_left[s.b] > 0
    v.closed = s.end < s.n
    return v


cdef inline int height(const ViewC* v) noexcept nogil:
    return v.below + (v.top != NONE)


cdef inline int stack_item(const StateC* s, const ViewC* v, int i) noexcept nogil:
    """The i-th item of the view's stack from its bottom."""
    return s.stack[i] if i < v.below else v.top


cdef inline int place(const StateC* s, const ViewC* v, int w) noexcept nogil:
    """Where word w is on the view's stack, or NONE."""
    if w == v.top:
        return v.below
    return s.position[w] if s.position[w] < v.below else NONE


cdef inline bint is_headed(const StateC* s, const ViewC* v, int i) noexcept nogil:
    return s.head[s.stack[i]] != NONE if i < v.below else v.headed


cdef inline bint is_lost(
    const SystemC* system, const GoldC* gold, int w, bint reachable
) noexcept nogil:
    """Whether headless w cannot get its gold head, which is in reach or not."""
    return gold.head[w] != NONE and not (reachable and can_be_right(system, gold, w))


cdef inline int children_between(
    const SystemC* system, const GoldC* gold, int w, int b, int e
) noexcept nogil:
    """Gold dependents of w, to be had, from b to e."""
    cdef int found = 0
    cdef int i, child
    for i in range(gold.child_offset[w + 1] - 1, gold.child_offset[w] - 1, -1):
        child = gold.children[i]
        if child < b:
            break
        found += child < e and can_be_right(system, gold, child)
    return found


cdef int inner(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int e
) noexcept nogil:
    """Words on the stack and from b to e that lose their gold head when the sentence ends at e."""
    cdef int n = gold.n
    cdef int lost = 0
    cdef int roots = 0      # that can be had, in the buffer
    cdef int block = 0      # the topmost headless item beneath the i-th
    cdef int i, w, g, least
    for w in range(v.b, e):
        g = gold.head[w]
        if g == n and can_be_right(system, gold, w):
            roots += 1
        else:
            lost += is_lost(system, gold, w, v.b <= g < e or (g < n and place(s, v, g) != NONE))
    for i in range(height(v)):
        if not is_headed(s, v, i):
            w = stack_item(s, v, i)
            g = gold.head[w]
            lost += is_lost(
                system, gold, w, v.b <= g < e or (g == n and not system.single_root)
            )
    if not system.single_root:
        return lost
    # The headless items all leave the stack, or some stay to the end, the topmost of them the i-th:
    # then words of the buffer cannot be attached to what is beneath it, nor to ROOT; it can, to
    # what is beneath it up to the next headless item; and the bottom is the root.
    least = lost + max(0, roots - 1)
    for i in range(height(v)):
        w = stack_item(s, v, i)
        g = gold.head[w]
        if i > 0:
            lost += children_between(system, gold, stack_item(s, v, i - 1), v.b, e)
        if is_headed(s, v, i):
            continue
        lost -= is_lost(system, gold, w, v.b <= g < e)
        if i == 0:
            lost += roots + is_lost(system, gold, w, g == n)
        else:
            lost += is_lost(system, gold, w, g != NONE and g < n and block <= place(s, v, g) < i)
        block = i
        least = lost if e == v.b else min(least, lost)
    return least


cdef inline int behind(const SystemC* system, const GoldC* gold, int e) noexcept nogil:
    """Errors from e on, when a sentence starts there."""
    return gold.lost_from[e] + (gold.surplus_from[e] if system.single_root else 0)


cdef int rest(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v
) noexcept nogil:
    """Errors to come: in headless words, and in undecided starts."""
    cdef int n = gold.n
    cdef int missed = 0
    cdef int far = NONE     # the last word with which one before e can still get an arc
    cdef int least = NONE
    cdef int i, e, loss
    cdef bint may_end
    if not system.segment:
        return inner(system, s, gold, v, n)
    if v.closed:
        return inner(system, s, gold, v, v.b) + behind(system, gold, v.b)
    for i in range(height(v)):
        if is_headed(s, v, i):
            far = max(far, last_child(gold, stack_item(s, v, i)))
        else:
            far = max(far, far_end(gold, stack_item(s, v, i)))
    for e in range(v.b, n):
        may_end = s.constraint[e] != -1 and gold.sent_start[e] != 0
        if e == v.b:
            may_end = may_end and height(v) > 0 and not v.has_left
        if may_end:
            loss = inner(system, s, gold, v, e) + missed + behind(system, gold, e)
            least = loss if least == NONE else min(least, loss)
            if gold.sent_start[e] == 1 or far < e:
                return least
        if e > v.b or height(v) > 0 or v.has_left:
            missed += gold.sent_start[e] == 1
        far = max(far, far_end(gold, e))
    loss = inner(system, s, gold, v, n) + missed
    return loss if least == NONE else min(least, loss)


cdef int rest_after(
    const SystemC* system, const StateC* s, const GoldC* gold, int move, int k
) noexcept nogil:
    """Errors to come after the named move, and what it does wrong itself, but for labels."""
    cdef ViewC v = view(s)
    cdef int b0 = B(s, 0)
    cdef int errors = 0
    if move == SHIFT and b0 == s.n:
        return rest(system, s, gold, &v)
    if move == BREAK:
        errors = gold.sent_start[b0] == 0
        v.closed = True
    elif move == LEFT_ARC:
        errors = least_error(system, gold, b0, S(s, k - 1))
        v.below -= k
        v.has_left = True
    else:
        if move == RIGHT_ARC:
            errors = least_error(
                system, gold, right_arc_head(system, s, k), right_arc_dependent(system, s, k)
            )
            v.below -= n_put_back(s) + k - 1
        v.top = right_arc_dependent(system, s, k)
        v.headed = move == RIGHT_ARC
        v.has_left = False
        if b0 != s.n:
            v.b = b0 + 1
            errors += system.segment and gold.sent_start[b0] == 1 and b0 != s.start
    return errors + rest(system, s, gold, &v)


cdef int best_rest(const SystemC* system, const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors to come: those after the best move. On crossing gold that is nearer to the truth than
    what ``rest`` tells."""
    cdef int least = NONE
    cdef int i, k, errors
    cdef const MoveC* move
    for i in range(system.n_moves):
        move = &system.moves[i]
        k = 1 if move.next_k is NULL else move.next_k(system, s, 0)
        while k != NONE:
            if move.precondition(system, s, k):
                errors = rest_after(system, s, gold, move.name, k)
                least = errors if least == NONE else min(least, errors)
            k = NONE if move.next_k is NULL else move.next_k(system, s, k)
    return 0 if least == NONE else least  # NONE: the configuration is final


cdef inline bint must_break(const SystemC* system, const StateC* s) noexcept nogil:
    return system.segment and s.b < s.end and s.n_stack > 0 and s.constraint[s.b] == 1


cdef int open_k(const StateC* s) noexcept nogil:
    """m, where s_m is the topmost headless stack item; NONE: the stack is empty."""
    cdef int k
    for k in range(1, s.n_stack + 1):
        if s.head[S(s, k - 1)] == NONE:
            return k
    return NONE


# SHIFT: (S, b0|B, A) => (S|b0, B, A). ROOT only to an empty stack.

cdef int arc_swift_shift_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """b0 loses a head on the stack, and the headless dependents there."""
    return rest_after(system, s, gold, SHIFT, k) - best_rest(system, s, gold)


# LEFT-ARC_k(l): (S|s_k|..|s_1, b0|B, A) => (S, b0|B, A + b0 -l-> s_k). s_k is headless, those above
# it are not. single_root: from ROOT only to the last stack item.

cdef bint can_left_arc(const SystemC* system, const StateC* s, int k) noexcept nogil:
    cdef int b0 = B(s, 0)
    if s.n_stack == 0 or b0 == NONE or must_break(system, s) or k != open_k(s):
        return False
    return b0 != s.n or not system.single_root or k == s.n_stack


cdef void do_left_arc(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil:
    cdef int b0 = B(s, 0)
    while k > 1:
        pop(s)
        k -= 1
    if b0 == s.n:
        s.root_child = S(s, 0)
    state_add_arc(s, b0, pop(s), l)


cdef int left_arc_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """s_k loses a head other than b0, and s_1 .. s_k their dependents in the buffer."""
    return (
        rest_after(system, s, gold, LEFT_ARC, k) - best_rest(system, s, gold)
        + label_error(system, gold, B(s, 0), S(s, k - 1), label)
    )


cdef int left_arc_head(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return B(s, 0)


cdef int left_arc_dependent(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return S(s, k - 1)


cdef int left_arc_k(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return open_k(s) if k == 0 else NONE


# RIGHT-ARC_k(l): (S|s_k|..|s_1, b0|B, A) => (S|s_k|b0, B, A + s_k -l-> b0). s_1 .. s_(k-1) have
# heads; b0 is not ROOT. single_root, b0 is ROOT, s_m not the last headless item:
# (S|t_k|..|t_1|s_m|..|s_1, [ROOT], A) => (S|t_k|s_m, [ROOT], A + t_k -l-> s_m). t_1 .. t_(k-1) have
# heads.

cdef inline int n_put_back(const StateC* s) noexcept nogil:
    """How many stack items go, that b0 be a word: s_1 .. s_m, of which s_m is attached."""
    return open_k(s) if B(s, 0) == s.n else 0


cdef bint can_right_arc(const SystemC* system, const StateC* s, int k) noexcept nogil:
    cdef int b0 = B(s, 0)
    cdef int first, i
    if s.n_stack == 0 or b0 == NONE or must_break(system, s):
        return False
    if b0 == s.n and not system.single_root:
        return False
    first = n_put_back(s)
    if first + k > s.n_stack:
        return False
    for i in range(first, first + k - 1):
        if s.head[S(s, i)] == NONE:
            return False
    return True


cdef void do_right_arc(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil:
    cdef int dependent = right_arc_dependent(system, s, k)
    k += n_put_back(s)
    while k > 1:
        pop(s)
        k -= 1
    if dependent == B(s, 0):
        read(s)
    state_add_arc(s, S(s, 0), dependent, l)
    push(s, dependent)


cdef int right_arc_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """b0 loses a head other than s_k, and the headless dependents on the stack; s_1 .. s_(k-1) lose
    their dependents behind b0."""
    return (
        rest_after(system, s, gold, RIGHT_ARC, k) - best_rest(system, s, gold)
        + label_error(
            system, gold, right_arc_head(system, s, k), right_arc_dependent(system, s, k), label
        )
    )


cdef int right_arc_head(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return S(s, n_put_back(s) + k - 1)


cdef int right_arc_dependent(const SystemC* system, const StateC* s, int k) noexcept nogil:
    cdef int b0 = B(s, 0)
    return S(s, open_k(s) - 1) if b0 == s.n else b0


cdef int right_arc_k(const SystemC* system, const StateC* s, int k) noexcept nogil:
    if k > 0 and s.head[right_arc_head(system, s, k)] == NONE:
        return NONE
    return k + 1 if n_put_back(s) + k < s.n_stack else NONE


# BREAK: (S, b0|B, A) => (S, [ROOT], A), a fresh configuration over b0|B to follow. S is not empty
# and b0, the next unread word, has no dependents yet.

cdef int arc_swift_break_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """An invented start; and the gold arcs between stack and buffer."""
    return rest_after(system, s, gold, BREAK, k) - best_rest(system, s, gold)


# All costs of a configuration at once.

cdef void fill_costs(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil:
    """cost and cost_other of each candidate, from one loss each."""
    cdef int i
    for i in range(n):
        candidates[i].cost = rest_after(
            system, s, gold, system.moves[candidates[i].move].name, candidates[i].k
        )
    costs_of_rests(system, gold, candidates, n)


# The loss, from scratch: for tests and for the Python face.

cdef int arc_swift_loss(const SystemC* system, const StateC* s, const GoldC* gold) noexcept nogil:
    return settled(system, s, gold) + best_rest(system, s, gold)


# Oracles beside the dynamic one.

cdef void learn_canonical(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil:
    """The static oracle: BREAK where gold does; else the gold arc from b0 to the stack; else the
    one from the stack to b0; else SHIFT. If another move costs less: the first cheapest."""
    cdef int best = 0
    cdef int i, name
    cdef bint wanted
    cdef bint found = False
    cdef CandidateC* c
    for i in range(1, n):
        if candidates[i].cost < candidates[best].cost:
            best = i
    for i in range(n):
        c = &candidates[i]
        c.learn = LEARN_NOT
        if found or c.cost > candidates[best].cost:
            continue
        name = system.moves[c.move].name
        if name == SHIFT:
            wanted = True
        elif name == BREAK:
            wanted = gold.sent_start[s.b] == 1
        else:
            wanted = gold.head[c.dependent] == c.head
        if wanted:
            best = i
            found = name != SHIFT
    candidates[best].learn = LEARN_ANY if candidates[best].label == NONE else LEARN_LABEL


cdef void learn_combined(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil:
    """What costs least, but for SHIFT where b0 can have its gold arc from the stack now: that it
    could have it when only ROOT is left, too, is not relied on (the idea of HGJ13, section 6)."""
    cdef int i
    cdef int shift = NONE
    cdef bint found = False
    cdef CandidateC* c
    learn_cheapest(system, s, gold, push_label, candidates, n)
    for i in range(n):
        c = &candidates[i]
        if system.moves[c.move].name == SHIFT:
            shift = i
        elif system.moves[c.move].name == RIGHT_ARC and c.learn != LEARN_NOT:
            found = found or gold.head[c.dependent] == c.head
    if found and shift != NONE:
        candidates[shift].learn = LEARN_NOT


cdef void start(const SystemC* system, StateC* s) noexcept nogil:
    s.root_last = 1
    s.one_root = system.single_root


cdef class ArcSwift(TransitionSystem):
    """The arc-swift system.

    Options:
        single_root: one child of ROOT in each sentence.
        segment: BREAK splits documents into sentences.
        root_label: the label that arcs from ROOT, and they alone, take (None: any label).
    """
    def __init__(
        self, labels=None, *, bint single_root=False, bint segment=False, root_label=None
    ):
        self.begin("arc_swift", {
            "single_root": bool(single_root),
            "segment": bool(segment),
            "root_label": root_label,
        })
        self.c.projective = True
        self.c.one_focus = True
        self.c.start = start
        self.c.loss = arc_swift_loss
        self.c.costs = fill_costs
        self.c.oracles[STATIC] = learn_canonical
        self.c.oracles[COMBINED] = learn_combined
        self.add_move(SHIFT, can_shift, do_shift, arc_swift_shift_cost)
        self.add_move(
            LEFT_ARC, can_left_arc, do_left_arc, left_arc_cost, left_arc_head, left_arc_dependent,
            left_arc_k,
        )
        self.add_move(
            RIGHT_ARC, can_right_arc, do_right_arc, right_arc_cost, right_arc_head,
            right_arc_dependent, right_arc_k,
        )
        if segment:
            self.add_move(BREAK, can_break, do_break, arc_swift_break_cost).ends_sentence = True
