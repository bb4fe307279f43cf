# cython: language_level=3
from spacy_nmparse.systems.arc_eager cimport can_left_arc, left_arc_cost
from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.gold cimport Gold
from spacy_nmparse.systems.state cimport NONE
from spacy_nmparse.systems.table cimport MoveTable


def left_arc_costs(MoveTable system, State state, Gold gold):
    """The cost of LEFT-ARC with each label of the system; empty where it is illegal."""
    cdef int label
    system.bind(gold)
    if not can_left_arc(&state.c, 1):
        return []
    return [
        left_arc_cost(&state.c, &gold.c, 1, label, NONE) for label in range(system.c.n_labels)
    ]
