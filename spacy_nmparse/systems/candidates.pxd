"""The legal moves of a configuration, what they cost, and which of them an oracle learns."""
from spacy_nmparse.systems.structs cimport *


cdef enum:
    OUT = -1000000000  # the score of what has no probability; 0 times it is 0


cdef int max_candidates(const SystemC* system, int n) noexcept nogil
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


cdef inline bint label_fits(const SystemC* system, bint from_root, int label) noexcept nogil:
    """Whether an arc may take the label: labels of roots are for arcs from ROOT, and them alone."""
    return system.root_labels == NULL or system.root_labels[label] == from_root


cdef inline int left_out(const SystemC* system) noexcept nogil:
    """The label that is left out where labels are chosen: that of roots, if there is one alone, to
    which arcs from ROOT come without a choice. NONE: ``leave_out`` tells."""
    return system.root_label if system.n_root_labels == 1 else NONE


cdef inline void leave_out(const SystemC* system, bint from_root, float* scores) noexcept nogil:
    """Where there are several labels of roots, give those that do not fit the arc scores with which
    they have no probability."""
    cdef int label
    if system.n_root_labels > 1:
        for label in range(system.n_labels):
            if system.root_labels[label] != from_root:
                scores[label] = OUT
