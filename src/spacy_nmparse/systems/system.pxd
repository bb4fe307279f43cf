"""A transition system: a table of moves, each with its precondition, effect and cost.

Other Cython code can cimport everything here and in the modules of the single systems; no function
allocates, takes the GIL or touches a Python object.
"""
from spacy_nmparse.systems.gold cimport Gold
from spacy_nmparse.systems.state cimport State
from spacy_nmparse.systems.structs cimport *


cdef int legal_moves(const StateC* s, CandidateC* out) noexcept nogil
cdef bint walk_to_end(StateC* s, step_t step, void* walker) noexcept nogil
cdef int formula_cost(
    const StateC* s, const GoldC* gold, int move, int k, int label, int push_label
) noexcept nogil
cdef void cost_each(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil
cdef int apply_oracle(
    const StateC* s, const GoldC* gold, int oracle, int push_label, bint exact, CandidateC* out
) noexcept nogil
cdef void learn_cheapest(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil
cpdef int new_move(str name, str colour=*, str glossary=*) except -1
cpdef int new_oracle(str name) except -1
cdef int no_arc(const StateC* s, int k) noexcept nogil
cdef int max_candidates(const SystemC* system, int n) noexcept nogil


cdef inline bint label_fits(const SystemC* system, bint from_root, int label) noexcept nogil:
    """Whether an arc may take the label: root_label is for arcs from ROOT, and them alone."""
    return system.root_label == NONE or (label == system.root_label) == from_root


cdef class TransitionSystem:
    cdef SystemC c
    cdef readonly str name
    cdef readonly dict options
    cdef readonly tuple labels          # as given, or None: unlabelled
    cdef readonly tuple label_names     # labels, or (None,)
    cdef dict label_ids

    cdef dict repair_names      # name of a move -> its name as a repair, if that is another
    cdef dict features          # name of a move -> features that a scorer of it should look at
    cdef dict texts             # of the glossary: name of a move or part -> what it does, or holds

    cdef MoveC* add_move(
        self, int name, precondition_t precondition, effect_t effect, cost_t cost, rest_t rest,
        arc_end_t head=*, arc_end_t dependent=*, next_k_t next_k=*
    ) except NULL
    cdef int add_break(
        self, precondition_t precondition, effect_t effect, cost_t cost, rest_t rest
    ) except -1
    cdef int begin(self, str name, dict shared, dict own=*) except -1
    cpdef int bind(self, Gold gold) except -1
