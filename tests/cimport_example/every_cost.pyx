# cython: language_level=3
"""What another package can build on the costs of every system: `tests/test_cimport.py` compiles
this."""
from libc.stdlib cimport free, malloc

from spacy_nmparse.lab cimport arc_swift, buffer_arcs, root_first, two_planar
from spacy_nmparse.lab.repairs cimport revised
from spacy_nmparse.systems cimport arc_eager, arc_hybrid, arc_standard
from spacy_nmparse.systems.covington cimport covington
from spacy_nmparse.systems.differences cimport difference_cost
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.sentences cimport break_rest, shift_rest
from spacy_nmparse.systems.state cimport NONE, State, StateC
from spacy_nmparse.systems.swap cimport swap
from spacy_nmparse.systems.system cimport (
    CandidateC,
    SystemC,
    TransitionSystem,
    cost_t,
    legal_moves,
    max_candidates,
    move_cost_t,
    rest_t,
)


# Costs of single moves by the formulas of papers.
cdef dict FORMULAS = {}
# Errors to come after a move: costs are their differences.
cdef dict RESTS = {}
# The costs of a system's moves in one function.
cdef dict COSTS = {}


cdef class Formula:
    cdef cost_t call


cdef class Rest:
    cdef rest_t call


cdef class Cost:
    cdef move_cost_t call


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


cdef int cost(str system, move_cost_t call) except -1:
    cdef Cost one = Cost()
    one.call = call
    COSTS[system] = one
    return 0


formula("arc_eager", "SHIFT", arc_eager.shift_cost)
formula("arc_eager", "REDUCE", arc_eager.reduce_cost)
formula("arc_eager", "LEFT-ARC", arc_eager.left_arc_cost)
formula("arc_eager", "RIGHT-ARC", arc_eager.right_arc_cost)
formula("arc_hybrid", "SHIFT", arc_hybrid.shift_cost)
formula("arc_hybrid", "LEFT-ARC", arc_hybrid.left_arc_cost)
formula("arc_hybrid", "RIGHT-ARC", arc_hybrid.right_arc_cost)

cost("arc_eager", arc_eager.arc_eager_cost)
cost("arc_eager revised", revised.cost)
cost("covington", covington.covington_cost)
cost("nl_covington", covington.covington_cost)

rest("arc_hybrid", "SHIFT", shift_rest)
rest("arc_hybrid", "LEFT-ARC", arc_hybrid.left_arc_rest)
rest("arc_hybrid", "RIGHT-ARC", arc_hybrid.right_arc_rest)
rest("arc_hybrid", "BREAK", break_rest)
rest("arc_standard", "SHIFT", arc_standard.shift_rest)
rest("arc_standard", "LEFT-ARC", arc_standard.left_arc_rest)
rest("arc_standard", "RIGHT-ARC", arc_standard.right_arc_rest)
rest("arc_standard", "BREAK", arc_standard.break_rest)
rest("arc_standard with buffer_arcs", "SHIFT", buffer_arcs.shift_rest)
rest("arc_standard with buffer_arcs", "LEFT-ARC", buffer_arcs.left_arc_rest)
rest("arc_standard with buffer_arcs", "RIGHT-ARC", buffer_arcs.right_arc_rest)
rest("arc_standard with buffer_arcs", "BREAK", buffer_arcs.break_rest)
rest("arc_eager with root_first", "SHIFT", root_first.shift_rest)
rest("arc_eager with root_first", "REDUCE", root_first.reduce_rest)
rest("arc_eager with root_first", "LEFT-ARC", root_first.left_arc_rest)
rest("arc_eager with root_first", "RIGHT-ARC", root_first.right_arc_rest)
rest("arc_eager with root_first", "BREAK", root_first.break_rest)
rest("arc_swift", "SHIFT", shift_rest)
rest("arc_swift", "LEFT-ARC", arc_swift.left_arc_rest)
rest("arc_swift", "RIGHT-ARC", arc_swift.right_arc_rest)
rest("arc_swift", "BREAK", break_rest)
rest("swap_standard", "SHIFT", swap.shift_rest)
rest("swap_standard", "LEFT-ARC", swap.left_arc_rest)
rest("swap_standard", "RIGHT-ARC", swap.right_arc_rest)
rest("swap_standard", "SWAP", swap.swap_rest)
rest("swap_standard", "BREAK", swap.break_rest)
rest("two_planar", "SHIFT", two_planar.shift_rest)
rest("two_planar", "REDUCE", two_planar.reduce_rest)
rest("two_planar", "LEFT-ARC", two_planar.left_arc_rest)
rest("two_planar", "RIGHT-ARC", two_planar.right_arc_rest)
rest("two_planar", "SWITCH", two_planar.switch_rest)
rest("two_planar", "BREAK", two_planar.break_rest)


def costs(TransitionSystem system, State state, Gold gold, bint printed=False):
    """Costs of the legal moves of an unlabelled system by every function that is there (list of
    lists of int). printed: also by the formulas of papers.

    The labels of `gold` must have been given their numbers: `system.costs` and `system.loss` do.
    """
    cdef const SystemC* c = &system.c
    cdef const StateC* s = &state.c
    cdef const GoldC* g = &gold.c
    cdef CandidateC* candidates = <CandidateC*>malloc(max_candidates(c, s.n) * sizeof(CandidateC))
    cdef int n = legal_moves(s, candidates)
    cdef int i, k, move, label, best
    form = f"{state.system} revised" if "repairs" in system.options else state.system
    names = system.moves
    found = []
    try:
        if form in COSTS:
            found.append([])
        elif (form, "SHIFT") in RESTS:
            found += [[], []]
        if printed and (form, "SHIFT") in FORMULAS:
            found.append([])
        for i in range(n):
            move, k = candidates[i].move, candidates[i].k
            label = NONE if candidates[i].dependent == NONE else 0
            name = names[move]
            if form in COSTS:
                found[0].append((<Cost>COSTS[form]).call(s, g, move, k, label, 0))
            else:
                found[0].append((<Rest>RESTS[form, name]).call(s, g, k))
                found[1].append(difference_cost(s, g, move, k, label, 0))
            if printed and (form, name) in FORMULAS:
                found[-1].append((<Formula>FORMULAS[form, name]).call(s, g, k, label, 0))
        if (form, "SHIFT") in RESTS:
            best = min(found[0])
            found[0] = [errors - best for errors in found[0]]
        return found
    finally:
        free(candidates)


def known():
    """What has costs here (set of str)."""
    return {*COSTS, *(system for system, _ in RESTS)}
