"""The SwapStandard system (Nivre 2009; Björkelund & Nivre 2015): arc-standard with SWAP.

Configurations, moves and terminal conditions are those of arc_standard.pyx. SWAP puts S1 back to
the front of the buffer, so that any tree can be built. Items are swapped in text order only, so no
two of them are swapped twice.

Loss: no closed form is known. The number given is what a derivation loses that plan.pyx finds: the
walk to the gold tree or, where that gets stuck, the best of a search. A derivation that loses no
head is found again after its first move, so whoever makes moves of the least cost loses none. The
true loss is never higher; docs/oracles.md tells how often it is lower.
"""
from spacy_nmparse.systems.arc_standard cimport (
    can_left_arc,
    can_right_arc,
    can_shift,
    do_break,
    do_left_arc,
    do_right_arc,
    do_shift,
)
from spacy_nmparse.systems.candidates cimport best_rest
from spacy_nmparse.systems.errors cimport least_error, settled
from spacy_nmparse.systems.moves cimport root_at_bottom, s0_end, s1_end
from spacy_nmparse.systems.sentences cimport (
    can_break,
    errors_behind,
    gold_breaks,
    may_break,
    must_break,
)
from spacy_nmparse.systems.state cimport NONE, B, S, pop, push
from spacy_nmparse.systems.static cimport learn_first_cheapest
from spacy_nmparse.systems.swap.gold cimport derive_swap
from spacy_nmparse.systems.swap.known cimport keep_known
from spacy_nmparse.systems.swap.plan cimport (
    STAY,
    PlanC,
    SwapC,
    follow,
    gold_ends,
    has_item,
    improve,
    load,
    make_order,
    make_tree,
    swap_tables,
)
from spacy_nmparse.systems.table cimport (
    BREAK,
    CROSSES_LATER,
    EAGER,
    LEARN_ANY,
    LEARN_LABEL,
    LEARN_NOT,
    LEFT_ARC,
    ND_ALL,
    RIGHT_ARC,
    SHIFT,
    STATIC,
    SWAP,
    CandidateC,
    MoveTable,
    learn_cheapest,
)

from spacy_nmparse.systems.arc_standard import TEXTS


cdef int planned_rest(const StateC* s, const GoldC* gold, int move) noexcept nogil:
    """Errors to come after the named move (STAY: from here), on the walk that follows it."""
    cdef PlanC p
    cdef int lost, certain, base
    load(s, gold, move, False, &p)
    lost = make_tree(s.system, gold, s.system.single_root, &p)
    certain = lost
    if follow(s.system, &p, p.head, NULL, p.wanted):  # the tree cannot do without SWAPs
        make_order(&p)
        lost += follow(s.system, &p, p.head, p.order, p.wanted)
    if lost > certain or not p.steady:
        lost = max(lost, certain + 1)
        load(s, gold, move, False, &p)
        base = make_tree(s.system, gold, False, &p)
        lost = base + improve(s.system, gold, &p, certain - base, lost - base)
    if p.end < gold.n:
        lost += errors_behind(s, gold, p.end)
    return lost


cdef int swap_loss(const StateC* s, const GoldC* gold) noexcept nogil:
    """By the plan from here, or behind the best move, whichever loses less."""
    if s.system.is_final(s):
        return settled(s, gold)
    return settled(s, gold) + min(planned_rest(s, gold, STAY), best_rest(s, gold))


cdef int shift_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    return gold_breaks(s, gold) + planned_rest(s, gold, SHIFT)


cdef int left_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    return least_error(s, gold, S(s, 0), S(s, 1)) + planned_rest(s, gold, LEFT_ARC)


cdef int right_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    return least_error(s, gold, S(s, 1), S(s, 0)) + planned_rest(s, gold, RIGHT_ARC)


cdef int break_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    return (gold.sent_start[s.b] == 0) + planned_rest(s, gold, BREAK)


# SWAP: (S|s1|s0, B, A) => (S|s0, s1|B, A). s1 is not ROOT and before s0 in the text. Lost are heads
# that can only be got when s1 is beneath s0. BREAK waits until no swapped word is in the buffer.

cdef bint can_swap(const StateC* s, int k) noexcept nogil:
    return s.n_stack > 2 and S(s, 1) < S(s, 0) and not must_break(s)


cdef void do_swap(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int s0 = pop(s)
    s.rebuffer[s.n_rebuffer] = pop(s)
    s.n_rebuffer += 1
    s.n_swaps += 1
    push(s, s0)


cdef int swap_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    return planned_rest(s, gold, SWAP)


# The other oracles are about one tree, the gold tree with heads made up where they are not known,
# and one projective order, in which siblings stand as in the text. Where that tree is out of
# reach, EAGER makes the first of the cheapest moves. ND-ALL, from which a learner may stray, keeps
# to the best tree that is left: whatever is cheapest is often several moves, since SWAP can make
# up for them. The lab has the other oracles of BN15.

cdef bint leads_home(const StateC* s, const GoldC* gold, int move) noexcept nogil:
    """Algorithm 2 of BN15: whether what is left of the tree can be built after the named move (from
    here: STAY)."""
    cdef PlanC p
    cdef const SwapC* t = swap_tables(gold)
    cdef int i
    load(s, gold, move, True, &p)
    for i in range(1, p.size):
        if not has_item(&p, t.head[p.seq[i]]):
            return False
    return follow(s.system, &p, t.head, t.order, NULL) == 0


cdef bint is_complete(const StateC* s, const GoldC* gold, int w) noexcept nogil:
    """Whether no word that waits for a head is to get w."""
    cdef const int* head = swap_tables(gold).head
    cdef int i
    for i in range(s.n_stack):
        if head[s.stack[i]] == w:
            return False
    for i in range(s.n_rebuffer):
        if head[s.rebuffer[i]] == w:
            return False
    for i in range(s.b, s.end):
        if head[i] == w:
            return False
    return True


cdef int eager_move(const StateC* s, const GoldC* gold) noexcept nogil:
    """Algorithm 1 of BN15, with BREAK first."""
    cdef const SwapC* t = swap_tables(gold)
    cdef int s0 = S(s, 0)
    cdef int s1 = S(s, 1)
    if may_break(s) and gold_ends(s.system, gold, s.b):
        return BREAK
    if s.n_stack > 2 and t.head[s1] == s0 and is_complete(s, gold, s1):
        return LEFT_ARC
    if can_right_arc(s, 1) and t.head[s0] == s1 and is_complete(s, gold, s0):
        return RIGHT_ARC
    if can_swap(s, 1) and t.order[s0] < t.order[s1]:
        return SWAP
    return SHIFT


cdef void learn_moves(
    const StateC* s, int wanted, bint shift, CandidateC* candidates, int n
) noexcept nogil:
    """Learn the named move; and SHIFT."""
    cdef int i, name
    for i in range(n):
        name = s.system.moves[candidates[i].move].name
        candidates[i].learn = LEARN_NOT
        if name == wanted or (shift and name == SHIFT):
            candidates[i].learn = LEARN_ANY if candidates[i].label == NONE else LEARN_LABEL


cdef void learn_eager(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """LEFT-ARC, RIGHT-ARC, SWAP, SHIFT: the first that is right for the tree and its order. Where
    that does not lead to the tree: the first cheapest."""
    if leads_home(s, gold, STAY):
        learn_moves(s, eager_move(s, gold), False, candidates, n)
    else:
        learn_first_cheapest(candidates, n)


cdef int planned_move(const StateC* s, const GoldC* gold, bint* shift) noexcept nogil:
    """EAGER's next move on the way to the best tree that can still be had, by plan.pyx. shift:
    whether SHIFT leads there, too."""
    cdef PlanC p
    cdef int s0 = S(s, 0)
    cdef int s1 = S(s, 1)
    cdef bint children0 = False
    cdef bint children1 = False
    cdef int move = SHIFT
    cdef int end, i, h
    shift[0] = False
    load(s, gold, STAY, False, &p)
    make_tree(s.system, gold, s.system.single_root, &p)
    make_order(&p)
    if may_break(s) and p.end == s.b:
        return BREAK
    for i in range(1, p.size):
        h = p.head[p.seq[i]]
        children0 = children0 or h == s0
        children1 = children1 or h == s1
    if s.n_stack > 2 and p.head[s1] == s0 and not children1:
        move = LEFT_ARC
    elif can_right_arc(s, 1) and p.head[s0] == s1 and not children0:
        move = RIGHT_ARC
    elif can_swap(s, 1) and p.order[s0] < p.order[s1]:
        move = SWAP
    if move != SHIFT and B(s, 0) != NONE:
        end = p.end
        load(s, gold, SHIFT, False, &p)
        shift[0] = p.end == end and follow(s.system, &p, p.head, p.order, NULL) == 0
    return move


cdef void learn_planned(
    const StateC* s, const GoldC* gold, int push_label, bint beside_arcs,
    CandidateC* candidates, int n
) noexcept nogil:
    """Of the cheapest moves the planned one, and a SHIFT that leads where it does: as an
    alternative to SWAP, or to arcs, too. All the cheapest ones where neither is among them."""
    cdef bint shift = False
    cdef bint found = False
    cdef int move, i, name
    learn_cheapest(s, gold, push_label, candidates, n)
    move = planned_move(s, gold, &shift)
    shift = shift and (beside_arcs or move == SWAP)
    for i in range(n):
        name = s.system.moves[candidates[i].move].name
        found = found or (candidates[i].learn != LEARN_NOT and name == move)
    if not found:
        return
    for i in range(n):
        name = s.system.moves[candidates[i].move].name
        if name != move and not (shift and name == SHIFT):
            candidates[i].learn = LEARN_NOT


cdef void learn_nd_all(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """EAGER, and where it has SWAP, LEFT-ARC or RIGHT-ARC, every SHIFT that leads to the tree, or
    to what is left of it."""
    cdef int move
    if not leads_home(s, gold, STAY):
        learn_planned(s, gold, push_label, True, candidates, n)
        return
    move = eager_move(s, gold)
    learn_moves(
        s, move,
        move != BREAK and move != SHIFT and B(s, 0) != NONE
        and leads_home(s, gold, SHIFT),
        candidates, n,
    )


SWAP_TEXTS = {
    "buffer": "The words to come, the next one first; words that SWAP put back are in front.",
    "SWAP": "The word beneath the top of the stack goes back to the front of the buffer. The two "
    "change their order, so that arcs can cross. A word can only go back from beneath a later one.",
}


cdef class SwapStandard(MoveTable):
    """The SwapStandard system. Its options are those of every system."""
    def __init__(self, labels=None, **options):
        self.begin("swap_standard", options)
        self.texts = {**TEXTS, **SWAP_TEXTS}
        self.c.start = root_at_bottom
        self.c.derive = derive_swap
        self.c.loss = swap_loss
        self.c.keep_known = keep_known
        self.c.oracles[STATIC] = learn_eager
        self.c.oracles[EAGER] = learn_eager
        self.c.oracles[ND_ALL] = learn_nd_all
        self.add_move(SHIFT, can_shift, do_shift, NULL, shift_rest)
        self.add_move(LEFT_ARC, can_left_arc, do_left_arc, NULL, left_arc_rest, s0_end, s1_end)
        self.add_move(RIGHT_ARC, can_right_arc, do_right_arc, NULL, right_arc_rest, s1_end, s0_end)
        self.add_move(SWAP, can_swap, do_swap, NULL, swap_rest).crossing = CROSSES_LATER
        self.add_break(can_break, do_break, NULL, break_rest)
