"""The legal moves of a configuration, what they cost, and which of them an oracle learns."""
from spacy_nmparse.systems.structs cimport *


cdef int max_candidates(const SystemC* system, int n) noexcept nogil:
    """An upper bound on the legal moves of any configuration over n words."""
    cdef int i, bound = 0
    for i in range(system.n_moves):
        bound += 1 if system.moves[i].next_k is NULL else n + 1
    return bound


cdef int legal_moves(const StateC* s, CandidateC* out) noexcept nogil:
    """The legal moves, without costs. Returns their number."""
    cdef int i, k
    cdef int n = 0
    cdef const MoveC* move
    for i in range(s.system.n_moves):
        move = &s.system.moves[i]
        k = 1 if move.next_k is NULL else move.next_k(s, 0)
        while k != NONE:
            if move.precondition(s, k):
                out[n].move = i
                out[n].k = k
                out[n].head = move.head(s, k)
                out[n].dependent = move.dependent(s, k)
                out[n].label = NONE
                out[n].cost = 0
                out[n].cost_other = 0
                out[n].learn = LEARN_NOT
                n += 1
            k = NONE if move.next_k is NULL else move.next_k(s, k)
    return n


cdef int allowed_labels(const StateC* s, const CandidateC* c, uint8_t* mask) noexcept nogil:
    """Which labels the arc of a move may take, or what a push may note: 1 for each, 0 for others.
    Returns how many."""
    cdef int label
    cdef int n = 0
    for label in range(s.system.n_labels):
        mask[label] = label_fits(s.system, c.head == s.n, label)
        n += mask[label]
    return n


cdef bint walk_to_end(StateC* s, step_t step, void* walker) noexcept nogil:
    """Let the walker make moves to the end (True), or until it makes none."""
    while not s.system.is_final(s):
        if not step(walker, s):
            return False
    return True


cdef int formula_cost(
    const StateC* s, const GoldC* gold, int move, int k, int label, int push_label
) noexcept nogil:
    """The cost of a move by the formula that is in the table."""
    return s.system.moves[move].cost(s, gold, k, label, push_label)


cdef void cost_each(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """Fill cost and cost_other of each candidate, one by one."""
    cdef int i
    cdef CandidateC* c
    for i in range(n):
        c = &candidates[i]
        if c.dependent == NONE:
            c.cost = s.system.cost(s, gold, c.move, c.k, NONE, push_label)
            c.cost_other = c.cost
        else:
            c.cost_other = s.system.cost(s, gold, c.move, c.k, UNKNOWN_LABEL, push_label)
            c.cost = c.cost_other
            if gold.label[c.dependent] != NONE and (
                label_fits(s.system, c.head == s.n, gold.label[c.dependent])
            ):
                c.cost = s.system.cost(s, gold, c.move, c.k, gold.label[c.dependent], push_label)


cdef int apply_oracle(
    const StateC* s, const GoldC* gold, int oracle, int push_label, bint exact, CandidateC* out
) noexcept nogil:
    """The legal moves with their costs, and which of them the oracle would have learned.

    push_label is the label that a push made here would note. exact: costs above the least are
    wanted too.
    """
    cdef int n = legal_moves(s, out)
    cdef int i
    if not exact and s.system.least_costs is not NULL:
        s.system.least_costs(s, gold, push_label, out, n)
    elif s.system.costs is NULL:
        cost_each(s, gold, push_label, out, n)
    else:
        s.system.costs(s, gold, push_label, out, n)
    for i in range(n):
        if out[i].cost != out[i].cost_other and out[i].label == NONE:
            out[i].label = gold.label[out[i].dependent]
    s.system.oracles[oracle](s, gold, push_label, out, n)
    return n


cdef void learn_cheapest(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """The dynamic oracle: whatever costs least is right."""
    cdef int i, least
    least = candidates[0].cost
    for i in range(1, n):
        least = min(least, candidates[i].cost)
    for i in range(n):
        candidates[i].learn = LEARN_NOT
        if candidates[i].cost == least:
            candidates[i].learn = LEARN_LABEL
            if candidates[i].cost_other == least:
                candidates[i].learn = LEARN_ANY
