"""A transition system: a table of moves, each with its precondition, effect and cost.

Other Cython code can cimport everything here and in the modules of the single systems; no function
allocates, takes the GIL or touches a Python object.
"""
from spacy_nmparse.systems.candidates cimport (
    apply_oracle,
    cost_each,
    formula_cost,
    label_fits,
    leave_out,
    left_out,
    learn_cheapest,
    legal_moves,
    max_candidates,
    walk_to_end,
)
from spacy_nmparse.systems.gold cimport Gold
from spacy_nmparse.systems.state cimport State
from spacy_nmparse.systems.structs cimport *


cpdef int new_move(str name, str colour=*, str glossary=*) except -1
cpdef int new_oracle(str name) except -1
cdef int no_arc(const StateC* s, int k) noexcept nogil


cdef class TransitionSystem:
    cdef SystemC c
    cdef readonly str name
    cdef readonly dict options
    cdef readonly tuple labels          # as given, or None: unlabelled
    cdef readonly tuple label_names     # labels, or (None,)
    cdef dict label_ids
    cdef bytes root_mask                # what c.root_labels points to

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
    cdef bint is_like(self, TransitionSystem other)
    cdef int check_state(self, State state) except -1
    cdef tuple check_gold(self, State state, Gold gold)
    cdef tuple legal_move(self, State state, action)
    cdef bint is_legal(self, State state, int i, int k, int label)
    cdef list expand(self, State state, Gold gold, int oracle, int push_label, bint exact)
