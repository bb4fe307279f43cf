"""The legal moves of a configuration, what they cost, and which of them an oracle learns.

A system says in one of three ways what its moves cost:

  MoveC.cost      a formula for each move
  MoveC.rest      the errors to come behind a move. Its cost is that number less the errors to come
                  from here: those that SystemC.rest counts or, without it, those behind the best
                  move
  SystemC.costs   all costs of a configuration at once

A system that says nothing has no costs: here all are 0.
"""
from spacy_nmparse.systems.errors cimport label_counts, label_fits, settled
from spacy_nmparse.systems.structs cimport *
from spacy_nmparse.systems.views cimport view


cdef int max_candidates(const SystemC* system, int n) noexcept nogil:
    """An upper bound on the legal moves of any configuration over n words."""
    cdef int i, bound = 0
    for i in range(system.n_moves):
        bound += 1 if system.moves[i].next_k is NULL else n + 1
    return bound


cdef inline void fill_candidate(const StateC* s, int move, int k, CandidateC* out) noexcept nogil:
    out.move = move
    out.k = k
    out.head = s.system.moves[move].head(s, k)
    out.dependent = s.system.moves[move].dependent(s, k)
    out.label = NONE
    out.cost = 0
    out.cost_other = 0
    out.learn = LEARN_NOT


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
                fill_candidate(s, i, k, &out[n])
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


cdef int best_rest(const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors to come behind the best move."""
    cdef int least = NONE
    cdef int i, k, errors
    cdef const MoveC* move
    for i in range(s.system.n_moves):
        move = &s.system.moves[i]
        k = 1 if move.next_k is NULL else move.next_k(s, 0)
        while k != NONE:
            if move.precondition(s, k):
                errors = move.rest(s, gold, k)
                least = errors if least == NONE else min(least, errors)
            k = NONE if move.next_k is NULL else move.next_k(s, k)
    return least


cdef inline int rest_here(const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors to come, where there is a move to make."""
    cdef ViewC v
    if s.system.rest is NULL:
        return best_rest(s, gold)
    v = view(s)
    return s.system.rest(s, gold, &v)


cdef int rest_loss(const StateC* s, const GoldC* gold) noexcept nogil:
    """The loss of systems whose moves have ``rest``."""
    return settled(s, gold) + (0 if s.system.is_final(s) else rest_here(s, gold))


cdef void rest_costs(
    const StateC* s, const GoldC* gold, CandidateC* candidates, int n
) noexcept nogil:
    """Fill cost and cost_other of each candidate by what is lost behind its move. The candidates
    are all legal moves, or one of them."""
    cdef int here = NONE
    cdef int i
    cdef CandidateC* c
    for i in range(n):
        c = &candidates[i]
        c.cost = s.system.moves[c.move].rest(s, gold, c.k)
        here = c.cost if here == NONE else min(here, c.cost)
    if n == 1 or s.system.rest is not NULL:
        here = rest_here(s, gold)
    for i in range(n):
        c = &candidates[i]
        c.cost -= here
        c.cost_other = c.cost + label_counts(s, gold, c.head, c.dependent)


cdef void formula_costs(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """Fill cost and cost_other of each candidate by the formula of its move."""
    cdef int i
    cdef CandidateC* c
    cdef cost_t cost
    for i in range(n):
        c = &candidates[i]
        cost = s.system.moves[c.move].cost
        if c.dependent == NONE:
            c.cost = cost(s, gold, c.k, NONE, push_label)
            c.cost_other = c.cost
        else:
            c.cost_other = cost(s, gold, c.k, UNKNOWN_LABEL, push_label)
            c.cost = c.cost_other
            if gold.label[c.dependent] != NONE and (
                label_fits(s.system, c.head == s.n, gold.label[c.dependent])
            ):
                c.cost = cost(s, gold, c.k, gold.label[c.dependent], push_label)


cdef inline void fill_costs(
    const StateC* s, const GoldC* gold, int push_label, bint exact, CandidateC* candidates, int n
) noexcept nogil:
    """Fill cost, cost_other and label of each candidate, in the system's way."""
    cdef int i
    if s.system.costs is not NULL:
        s.system.costs(s, gold, push_label, exact, candidates, n)
    elif s.system.moves[0].cost is not NULL:
        formula_costs(s, gold, push_label, candidates, n)
    elif s.system.moves[0].rest is not NULL:
        rest_costs(s, gold, candidates, n)
    for i in range(n):
        if candidates[i].cost != candidates[i].cost_other and candidates[i].label == NONE:
            candidates[i].label = gold.label[candidates[i].dependent]


cdef int cost_of(
    const StateC* s, const GoldC* gold, int move, int k, int label, int push_label
) noexcept nogil:
    """The cost of one legal move, by its place in the table, with this label."""
    cdef CandidateC c
    if s.system.costs is NULL and s.system.moves[move].cost is not NULL:
        return s.system.moves[move].cost(s, gold, k, label, push_label)
    fill_candidate(s, move, k, &c)
    fill_costs(s, gold, push_label, True, &c, 1)
    return c.cost if c.label == NONE or c.label == label else c.cost_other


cdef int apply_oracle(
    const StateC* s, const GoldC* gold, int oracle, int push_label, bint exact, CandidateC* out
) noexcept nogil:
    """The legal moves with their costs, and which of them the oracle would have learned.

    push_label is the label that a push made here would note. exact: costs above the least are
    wanted too.
    """
    cdef int n = legal_moves(s, out)
    fill_costs(s, gold, push_label, exact, out, n)
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
