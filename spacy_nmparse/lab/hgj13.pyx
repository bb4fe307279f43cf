"""The cost formulas of Honnibal, Goldberg & Johnson (2013) as printed in section 5, and the oracle
``paper`` of arc_eager: C of Goldberg & Nivre (2012) with footnote 4, plus Delta_NML where LEFT-ARC
is non-monotonic, plus Delta_NMD where REDUCE is.

They know neither labels (a right head with a wrong label is charged one here), nor single_root, nor
BREAK: the oracle allows that where gold has a start, and nothing else there. For REDUCE alone (NMD)
they are wrong as printed: ``docs/proofs.md`` lists where.
"""
from spacy_nmparse.systems.arc_eager_options cimport eager
from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.errors cimport label_counts
from spacy_nmparse.systems.gold cimport Gold, GoldC, children_from
from spacy_nmparse.systems.names cimport new_oracle
from spacy_nmparse.systems.state cimport NONE, B, S, StateC, in_buffer
from spacy_nmparse.systems.table cimport (
    BREAK,
    LEARN_LABEL,
    MAX_MOVES,
    REDUCE,
    RIGHT_ARC,
    SHIFT,
    CandidateC,
    MoveTable,
    learn_cheapest,
    legal_moves,
)

from spacy_nmparse.systems.names import MOVE_NAMES


cdef enum:
    FAR = 1 << 20       # no cost is as high


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


cdef int hgj13_cost(const StateC* s, const GoldC* gold, int move) noexcept nogil:
    """C(a, c, t) and its Delta terms, of SHIFT, REDUCE, LEFT-ARC or RIGHT-ARC."""
    cdef int s0 = S(s, 0)
    cdef int b0 = B(s, 0)
    cdef bint L = s.system.nonmonotonic
    cdef bint D = eager(s).nonmonotonic_reduce
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


cdef void hgj13_oracle(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """The moves that cost least by the printed formulas; BREAK where gold has a start, and where
    nothing else is legal."""
    cdef CandidateC[MAX_MOVES] printed
    cdef CandidateC* c
    cdef int i, name
    for i in range(n):
        c = &candidates[i]
        name = s.system.moves[c.move].name
        printed[i] = c[0]
        if name == BREAK and n > 1:
            printed[i].cost = -1 if gold.sent_start[s.b] == 1 else FAR
        else:
            printed[i].cost = hgj13_cost(s, gold, name)
        printed[i].cost_other = printed[i].cost + label_counts(s, gold, c.head, c.dependent)
    learn_cheapest(s, gold, push_label, printed, n)
    for i in range(n):
        c = &candidates[i]
        c.learn = printed[i].learn
        if c.learn == LEARN_LABEL:
            c.label = gold.label[c.dependent]


def add_paper(MoveTable system):
    """Give arc_eager, but for its forms, the oracle ``paper``."""
    if system.options.get("push") == "any":
        system.c.oracles[new_oracle("paper")] = hgj13_oracle


def paper_costs(MoveTable system not None, State state not None, Gold gold not None):
    """Cost of each legal move name by the printed formulas (dict from str to int).

    Args:
        system: an arc-eager system without ``segment``, ``repairs`` and ``unshift``.
        state: a configuration.
        gold: the gold tree, over as many words; labels are not looked at.

    Raises:
        ValueError: another system, a configuration of another one, or a gold tree of another
            length.
    """
    cdef CandidateC candidates[MAX_MOVES]
    cdef int i, n, name
    if system.name != "arc_eager":
        raise ValueError(f"HGJ13's formulas are arc-eager's, not those of {system.name}.")
    for option in ("segment", "repairs", "unshift", "root_first"):
        if system.options.get(option):
            raise ValueError(f"HGJ13's formulas do not know arc_eager's option {option!r}.")
    system.check_state(state)
    if gold.c.n != state.c.n:
        raise ValueError(f"The gold tree has {gold.c.n} words, the configuration {state.c.n}.")
    n = legal_moves(&state.c, candidates)
    costs = {}
    for i in range(n):
        name = system.c.moves[candidates[i].move].name
        costs[MOVE_NAMES[name]] = hgj13_cost(&state.c, &gold.c, name)
    return costs
