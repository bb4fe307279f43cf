"""A transition system: a table of moves, each with its precondition, effect and cost.

Other Cython code can cimport everything here and in the modules of the single systems; no function
allocates, takes the GIL or touches a Python object.
"""
from spacy_nmparse.systems.candidates cimport (
    allowed_labels,
    apply_oracle,
    cost_of,
    formula_costs,
    learn_cheapest,
    legal_moves,
    max_candidates,
    rest_loss,
    walk_to_end,
)
from spacy_nmparse.systems.errors cimport label_fits
from spacy_nmparse.systems.gold cimport Gold
from spacy_nmparse.systems.structs cimport *


cdef int no_arc(const StateC* s, int k) noexcept nogil


cdef class MoveTable:
    cdef SystemC c
    cdef readonly str name
    cdef readonly dict options
    cdef readonly tuple labels          # as given, or None: unlabelled
    cdef readonly tuple label_names     # labels, or (None,)
    cdef dict label_ids
    cdef bytes root_mask        # what c.root_labels points to
    cdef dict repair_names      # name of a move -> its name as a repair, if that is another
    cdef dict features          # name of a move -> features that a scorer of it should look at
    cdef dict texts             # of the glossary: name of a move or part -> what it does, or holds

    cdef int begin(self, str name, dict shared, dict own=*) except -1
    cdef MoveC* add_move(
        self, int name, precondition_t precondition, effect_t effect, cost_t cost, rest_t rest,
        arc_end_t head=*, arc_end_t dependent=*, next_k_t next_k=*
    ) except NULL
    cdef int add_break(
        self, precondition_t precondition, effect_t effect, cost_t cost, rest_t rest
    ) except -1
    cpdef int bind(self, Gold gold) except -1
    cdef bint is_like(self, MoveTable other)
