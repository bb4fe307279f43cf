"""The legal moves of a configuration, what they cost, and which of them an oracle learns."""
from libc.stdint cimport uint8_t

from spacy_nmparse.systems.structs cimport *


cdef int max_candidates(const SystemC* system, int n) noexcept nogil
cdef int legal_moves(const StateC* s, CandidateC* out) noexcept nogil
cdef int allowed_labels(const StateC* s, const CandidateC* c, uint8_t* mask) noexcept nogil
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
    """Whether an arc may take the label: root_label is for arcs from ROOT, and them alone."""
    return system.root_label == NONE or (label == system.root_label) == from_root
