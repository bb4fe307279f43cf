"""Costs and losses of systems that tell, for each move, what is still lost behind it.

The errors still to come in a configuration are those after its best move. On crossing gold that is
nearer to the truth than what the configuration itself would tell. The cost of a move is the
difference between what is lost behind it and behind the best one.
"""
from spacy_nmparse.systems.moves cimport label_counts, label_error, settled
from spacy_nmparse.systems.state cimport NONE
from spacy_nmparse.systems.system cimport MoveC, cost_each, formula_cost


cdef int best_rest(const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors to come; 0 in a final configuration."""
    cdef int least = NONE
    cdef int i, k, errors
    cdef const MoveC* move
    if s.system.rest_here is not NULL:
        least = s.system.rest_here(s, gold)
    for i in range(s.system.n_moves):
        move = &s.system.moves[i]
        k = 1 if move.next_k is NULL else move.next_k(s, 0)
        while k != NONE:
            if move.precondition(s, k):
                errors = move.rest(s, gold, k)
                least = errors if least == NONE else min(least, errors)
            k = NONE if move.next_k is NULL else move.next_k(s, k)
    return max(least, 0)


cdef int difference_cost(
    const StateC* s, const GoldC* gold, int move, int k, int label, int push_label
) noexcept nogil:
    """Cost of the move at this place of the table."""
    cdef const MoveC* one = &s.system.moves[move]
    cdef int cost = one.rest(s, gold, k) - best_rest(s, gold)
    if one.dependent(s, k) == NONE:
        return cost
    return cost + label_error(s, gold, one.head(s, k), one.dependent(s, k), label)


cdef void difference_costs(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """cost and cost_other of each candidate; what follows each is looked at once."""
    cdef int least = NONE
    cdef int i
    cdef CandidateC* c
    for i in range(n):
        c = &candidates[i]
        c.cost = s.system.moves[c.move].rest(s, gold, c.k)
        least = c.cost if least == NONE else min(least, c.cost)
    for i in range(n):
        c = &candidates[i]
        c.cost -= least
        c.cost_other = c.cost + label_counts(s, gold, c.head, c.dependent)


cdef int difference_loss(const StateC* s, const GoldC* gold) noexcept nogil:
    return settled(s, gold) + best_rest(s, gold)


cdef void use_differences(SystemC* system) noexcept nogil:
    """Let ``rest`` of the moves, what is lost after each, answer for costs and losses."""
    system.cost = difference_cost
    system.costs = difference_costs
    system.loss = difference_loss
    system.differences = True


# Formulas that hold where no gold arcs cross.

cdef int formula_or_difference(
    const StateC* s, const GoldC* gold, int move, int k, int label, int push_label
) noexcept nogil:
    if gold.crossing != NULL:
        return difference_cost(s, gold, move, k, label, push_label)
    return formula_cost(s, gold, move, k, label, push_label)


cdef void formulas_or_differences(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    if gold.crossing != NULL:
        difference_costs(s, gold, push_label, candidates, n)
    else:
        cost_each(s, gold, push_label, candidates, n)


cdef void use_formulas(SystemC* system) noexcept nogil:
    """Let the formulas of the moves answer for costs, where no gold arcs cross."""
    system.cost = formula_or_difference
    system.costs = formulas_or_differences
    system.formulas = True
