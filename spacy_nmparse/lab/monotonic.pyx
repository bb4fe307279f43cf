"""The oracles ``monotonic`` and ``combined`` of arc-eager (Honnibal, Goldberg & Johnson 2013,
section 6)."""
from spacy_nmparse.systems.arc_eager_options cimport eager
from spacy_nmparse.systems.names cimport new_oracle
from spacy_nmparse.systems.state cimport NONE, UNKNOWN_LABEL
from spacy_nmparse.systems.table cimport (
    LEARN_ANY,
    LEARN_LABEL,
    LEARN_NOT,
    MAX_MOVES,
    MoveC,
    MoveTable,
    cost_of,
    label_fits,
    learn_cheapest,
)


cdef void learn_monotonic(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """Learn the moves that the monotonic system's dynamic oracle allows here."""
    cdef StateC other = in_system(s, eager(s).monotonic)
    learn_in(&other, gold, push_label, candidates, n)


cdef void learn_combined(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """Learn the moves of least cost that the monotonic oracle also allows or, where it allows none
    of them, all moves of least cost: non-monotonic moves are learned only where they are needed."""
    cdef StateC other = in_system(s, eager(s).monotonic)
    learn_cheapest(s, gold, push_label, candidates, n)
    keep_allowed(&other, gold, push_label, candidates, n)


cdef void keep_allowed(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """Of what is to be learned, keep what the dynamic oracle of ``s.system`` allows; all of it, if
    that oracle allows none. The candidates may be another system's."""
    cdef int[MAX_MOVES] kept
    cdef int i
    for i in range(n):
        kept[i] = candidates[i].learn
    learn_in(s, gold, push_label, candidates, n)
    for i in range(n):
        candidates[i].learn = min(candidates[i].learn, kept[i])
    for i in range(n):
        if candidates[i].learn != LEARN_NOT:
            return
    for i in range(n):
        candidates[i].learn = kept[i]


cdef void learn_in(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """Learn the moves that the dynamic oracle of ``s.system`` allows. The candidates may be another
    system's."""
    cdef int i, cost, label
    cdef int least = -1
    cdef CandidateC* c
    cdef const MoveC* move
    for i in range(n):
        candidates[i].learn = LEARN_NOT
        move = &s.system.moves[candidates[i].move]
        if move.precondition(s, candidates[i].k):
            cost = cost_of(
                s, gold, candidates[i].move, candidates[i].k,
                gold_label(s, gold, &candidates[i]), push_label,
            )
            if least < 0 or cost < least:
                least = cost
    for i in range(n):
        c = &candidates[i]
        move = &s.system.moves[c.move]
        if not move.precondition(s, c.k):
            continue
        label = gold_label(s, gold, c)
        if cost_of(s, gold, c.move, c.k, label, push_label) == least:
            c.learn = LEARN_LABEL
            if c.dependent == NONE or cost_of(
                s, gold, c.move, c.k, UNKNOWN_LABEL, push_label
            ) == least:
                c.learn = LEARN_ANY
            elif c.label == NONE:
                c.label = label


cdef inline int gold_label(const StateC* s, const GoldC* gold, const CandidateC* c) noexcept nogil:
    """The label that the move's arc should have; UNKNOWN_LABEL where it can't."""
    cdef int label = NONE if c.dependent == NONE else gold.label[c.dependent]
    if label == NONE or label_fits(s.system, c.head == gold.n, label):
        return label
    return UNKNOWN_LABEL


def add_monotonic(MoveTable system not None):
    """Give arc_eager, but for its forms, the oracle ``monotonic``."""
    if system.options.get("push") == "any":
        system.c.oracles[new_oracle("monotonic")] = learn_monotonic


def add_combined(MoveTable system not None):
    """Give arc_eager, but for its forms, the oracle ``combined``."""
    if system.options.get("push") == "any":
        system.c.oracles[new_oracle("combined")] = learn_combined
