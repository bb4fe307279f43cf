"""The oracles of HGJ13. Section 5: the cost formulas as printed, C of Goldberg & Nivre 2012 with
footnote 4, plus Delta_NML where LEFT-ARC is non-monotonic, plus Delta_NMD where REDUCE is.

They know neither labels (a right head with a wrong label is charged one here), nor single_root, nor
BREAK: the oracle allows that where gold has a start, and nothing else there. For REDUCE alone (NMD)
they are wrong as printed: ``docs/oracles.md`` lists where. Section 6: the monotonic oracle, and the
combined one.
"""
from spacy_nmparse.systems.gold cimport Gold, children_from
from spacy_nmparse.systems.repairs.revision cimport repairs
from spacy_nmparse.systems.state cimport NONE, UNKNOWN_LABEL, B, S, State, in_buffer
from spacy_nmparse.systems.system cimport (
    BREAK,
    LEARN_ANY,
    LEARN_LABEL,
    LEARN_NOT,
    MAX_MOVES,
    REDUCE,
    RIGHT_ARC,
    SHIFT,
    MoveC,
    TransitionSystem,
    label_fits,
    learn_cheapest,
    legal_moves,
)


cdef inline int stack_children(
    const StateC* s, const GoldC* gold, int b0, bint headed
) noexcept nogil:
    """Gold dependents of b0 on the stack that have a head (headed) or have none (not headed)."""
    cdef int i, child
    cdef int count = 0
    for i in range(gold.child_offset[b0], gold.child_offset[b0 + 1]):
        child = gold.children[i]
        if s.position[child] != NONE and (s.head[child] != NONE) == headed:
            count += 1
    return count


cdef int hgj13_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int move
) noexcept nogil:
    """C(a, c, t) and its Delta terms, of SHIFT, REDUCE, LEFT-ARC or RIGHT-ARC."""
    cdef int s0 = S(s, 0)
    cdef int b0 = B(s, 0)
    cdef bint L = system.nonmonotonic_left
    cdef bint D = system.nonmonotonic_reduce
    cdef bint headed = s0 != NONE and s.head[s0] != NONE
    cdef int cost = 0
    cdef int h
    if move == SHIFT or move == RIGHT_ARC:
        h = NONE if b0 == s.n else gold.head[b0]            # the gold head of B0
        cost = stack_children(s, gold, b0, False)
        if move == SHIFT:
            cost += h != NONE and s.position[h] != NONE
            cost -= D and h != NONE and h == s0
        else:
            cost += h != NONE and ((s.position[h] != NONE and h != s0) or in_buffer(s, h))
            cost -= L and h != NONE and in_buffer(s, h)
        cost += stack_children(s, gold, b0, True) if L else 0
    else:
        h = gold.head[s0]                                   # the gold head of S0
        cost = children_from(gold, s0, s.b)
        if move == REDUCE:
            cost += L and h != NONE and in_buffer(s, h)
        elif not headed:
            cost += h != NONE and h != b0 and in_buffer(s, h)
            cost += D and h != NONE and h == S(s, 1)
        elif L:
            cost += h != NONE and s.head[s0] == h
            cost += h != NONE and s.head[s0] != h and h != b0 and in_buffer(s, h)
    return cost


cdef void learn_only(CandidateC* candidates, int n, int wanted) noexcept nogil:
    cdef int i
    for i in range(n):
        candidates[i].learn = LEARN_ANY if i == wanted else LEARN_NOT


cdef void hgj13_oracle(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil:
    """The moves that cost least by the printed formulas; BREAK where gold has a start, and where
    nothing else is legal."""
    cdef int i, cost
    cdef int least = -1
    cdef CandidateC* c
    for i in range(n):
        if system.moves[candidates[i].move].name == BREAK and n > 1:
            if gold.sent_start[s.b] == 1:
                learn_only(candidates, n, i)
                return
            candidates[i].learn = 0
            continue
        cost = hgj13_cost(system, s, gold, system.moves[candidates[i].move].name)
        candidates[i].learn = cost + 1  # kept here for the second pass
        if least < 0 or cost < least:
            least = cost
    for i in range(n):
        c = &candidates[i]
        if c.learn - 1 != least:
            c.learn = LEARN_NOT
        elif c.dependent != NONE and gold.head[c.dependent] == c.head and (
            gold.label[c.dependent] != NONE
            and label_fits(system, c.head == s.n, gold.label[c.dependent])
        ):
            c.learn = LEARN_LABEL
            c.label = gold.label[c.dependent]
        else:
            c.learn = LEARN_ANY


# Section 6.

cdef void learn_monotonic(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil:
    """What the monotonic system's dynamic oracle allows here."""
    cdef SystemC monotonic = system[0]
    monotonic.nonmonotonic_left = False
    monotonic.nonmonotonic_reduce = False
    monotonic.end_attaches = True
    monotonic.unshift = False
    without_repairs(&monotonic)
    learn_in(&monotonic, s, gold, push_label, candidates, n)


cdef inline void without_repairs(SystemC* system) noexcept nogil:
    system.right_lower = False
    system.right_raise = False
    system.left_invert = False


cdef void learn_in(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil:
    """What the dynamic oracle of another system allows among its own moves."""
    cdef int i, cost, label
    cdef int least = -1
    cdef CandidateC* c
    cdef const MoveC* move
    for i in range(n):
        candidates[i].learn = LEARN_NOT
        move = &system.moves[candidates[i].move]
        if move.precondition(system, s, candidates[i].k):
            cost = system.cost(
                system, s, gold, candidates[i].move, candidates[i].k,
                gold_label(system, gold, &candidates[i]), push_label,
            )
            if least < 0 or cost < least:
                least = cost
    for i in range(n):
        c = &candidates[i]
        move = &system.moves[c.move]
        if not move.precondition(system, s, c.k):
            continue
        label = gold_label(system, gold, c)
        if system.cost(system, s, gold, c.move, c.k, label, push_label) == least:
            c.learn = LEARN_LABEL
            if c.dependent == NONE or system.cost(
                system, s, gold, c.move, c.k, UNKNOWN_LABEL, push_label
            ) == least:
                c.learn = LEARN_ANY
            elif c.label == NONE:
                c.label = label


cdef inline int gold_label(
    const SystemC* system, const GoldC* gold, const CandidateC* c
) noexcept nogil:
    """The label that the move's arc should have; UNKNOWN_LABEL where it can't."""
    cdef int label = NONE if c.dependent == NONE else gold.label[c.dependent]
    if label == NONE or label_fits(system, c.head == gold.n, label):
        return label
    return UNKNOWN_LABEL


cdef void learn_combined(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil:
    """HGJ13 section 6: of the moves that cost least, those that the monotonic oracle also allows;
    all of them where it allows none. With repair transitions, of those that are as good without,
    if there are any. A repair is learned where it is needed, and not relied on."""
    cdef SystemC plain
    cdef int i
    cdef int[MAX_MOVES] kept
    if repairs(system):
        plain = system[0]
        without_repairs(&plain)
        learn_in(&plain, s, gold, push_label, candidates, n)
        if not agree(candidates, n):
            learn_cheapest(system, s, gold, push_label, candidates, n)
    else:
        learn_cheapest(system, s, gold, push_label, candidates, n)
    for i in range(n):
        kept[i] = candidates[i].learn
    learn_monotonic(system, s, gold, push_label, candidates, n)
    for i in range(n):
        candidates[i].learn = min(candidates[i].learn, kept[i])
    for i in range(n):
        if candidates[i].learn != LEARN_NOT:
            return
    for i in range(n):
        candidates[i].learn = kept[i]


cdef bint agree(CandidateC* candidates, int n) noexcept nogil:
    """Of what is to be learned keep what costs least. Returns whether anything is left."""
    cdef int i
    cdef int least = candidates[0].cost
    cdef bint left = False
    for i in range(1, n):
        least = min(least, candidates[i].cost)
    for i in range(n):
        if candidates[i].cost > least:
            candidates[i].learn = LEARN_NOT
        elif candidates[i].learn == LEARN_ANY and candidates[i].cost_other > least:
            candidates[i].learn = LEARN_LABEL
        left = left or candidates[i].learn != LEARN_NOT
    return left


def paper_costs(TransitionSystem system not None, State state not None, Gold gold not None):
    """Cost of each legal move name by the printed formulas (dict from str to int).

    Args:
        system: an arc-eager system without ``segment``, ``repairs`` and ``unshift``.
        state: a configuration.
        gold: the gold tree, over as many words; labels are not looked at.

    Raises:
        ValueError: another system, or a gold tree of another length.
    """
    from spacy_nmparse.systems.system import MOVE_NAMES
    cdef CandidateC candidates[MAX_MOVES]
    cdef int i, n, name
    if system.name != "arc_eager":
        raise ValueError(f"HGJ13's formulas are arc-eager's, not those of {system.name}.")
    for option in ("segment", "repairs", "unshift"):
        if system.options[option]:
            raise ValueError(f"HGJ13's formulas do not know arc_eager's option {option!r}.")
    if gold.c.n != state.c.n:
        raise ValueError(f"The gold tree has {gold.c.n} words, the configuration {state.c.n}.")
    n = legal_moves(&system.c, &state.c, candidates)
    costs = {}
    for i in range(n):
        name = system.c.moves[candidates[i].move].name
        costs[MOVE_NAMES[name]] = hgj13_cost(&system.c, &state.c, &gold.c, name)
    return costs
