# cython: language_level=3
"""What another package can build on the costs of every system: `tests/test_cimport.py` compiles
this."""
from libc.stdlib cimport free, malloc

from spacy_nmparse.systems cimport arc_eager, arc_hybrid, arc_standard
from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.sentences cimport break_rest, shift_rest
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.swap cimport swap
from spacy_nmparse.systems.table cimport (
    CandidateC,
    SystemC,
    MoveTable,
    cost_of,
    cost_t,
    legal_moves,
    max_candidates,
    rest_t,
)


# Costs of single moves by the formulas of papers.
cdef dict FORMULAS = {}
# Errors to come after a move: costs are their differences.
cdef dict RESTS = {}


cdef class Formula:
    cdef cost_t call


cdef class Rest:
    cdef rest_t call


cdef int formula(str system, str move, cost_t call) except -1:
    cdef Formula one = Formula()
    one.call = call
    FORMULAS[system, move] = one
    return 0


cdef int rest(str system, str move, rest_t call) except -1:
    cdef Rest one = Rest()
    one.call = call
    RESTS[system, move] = one
    return 0


formula("arc_eager", "SHIFT", arc_eager.shift_cost)
formula("arc_eager", "REDUCE", arc_eager.reduce_cost)
formula("arc_eager", "LEFT-ARC", arc_eager.left_arc_cost)
formula("arc_eager", "RIGHT-ARC", arc_eager.right_arc_cost)
formula("arc_hybrid", "SHIFT", arc_hybrid.shift_cost)
formula("arc_hybrid", "LEFT-ARC", arc_hybrid.left_arc_cost)
formula("arc_hybrid", "RIGHT-ARC", arc_hybrid.right_arc_cost)

rest("arc_hybrid", "SHIFT", shift_rest)
rest("arc_hybrid", "LEFT-ARC", arc_hybrid.left_arc_rest)
rest("arc_hybrid", "RIGHT-ARC", arc_hybrid.right_arc_rest)
rest("arc_hybrid", "BREAK", break_rest)
rest("arc_standard", "SHIFT", arc_standard.shift_rest)
rest("arc_standard", "LEFT-ARC", arc_standard.left_arc_rest)
rest("arc_standard", "RIGHT-ARC", arc_standard.right_arc_rest)
rest("arc_standard", "BREAK", arc_standard.break_rest)
rest("swap_standard", "SHIFT", swap.shift_rest)
rest("swap_standard", "LEFT-ARC", swap.left_arc_rest)
rest("swap_standard", "RIGHT-ARC", swap.right_arc_rest)
rest("swap_standard", "SWAP", swap.swap_rest)
rest("swap_standard", "BREAK", swap.break_rest)


def costs(MoveTable system, State state, Gold gold, bint printed=False):
    """Costs of the legal moves of an unlabelled system by every function that is there, here or in
    its table (list of lists of int). printed: also by the formulas of papers.
    """
    cdef const SystemC* c = &system.c
    cdef const StateC* s = &state.c
    cdef const GoldC* g = &gold.c
    cdef CandidateC* candidates = <CandidateC*>malloc(max_candidates(c, s.n) * sizeof(CandidateC))
    cdef int n = legal_moves(s, candidates)
    cdef int i, k, move, label
    form = f"{state.system} revised" if "repairs" in system.options else state.system
    names = system.moves
    found = [[], []]
    system.bind(gold)
    try:
        if printed and (form, "SHIFT") in FORMULAS:
            found.append([])
        for i in range(n):
            move, k = candidates[i].move, candidates[i].k
            label = NONE if candidates[i].dependent == NONE else 0
            name = names[move]
            found[0].append(cost_of(s, g, move, k, label, 0))
            if c.moves[move].rest is not NULL:
                found[1].append(c.moves[move].rest(s, g, k))
                if (form, "SHIFT") in RESTS:
                    assert found[1][-1] == (<Rest>RESTS[form, name]).call(s, g, k)
            if printed and (form, name) in FORMULAS:
                found[-1].append((<Formula>FORMULAS[form, name]).call(s, g, k, label, 0))
        # What is lost behind moves differs as their costs do.
        found[1] = [errors - found[1][0] + found[0][0] for errors in found[1]]
        return [costs for costs in found if costs]
    finally:
        free(candidates)
