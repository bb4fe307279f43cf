"""The legal moves of a configuration, what they cost, and which of them an oracle learns."""
from libc.stdint cimport uint8_t

from spacy_nmparse.systems.structs cimport *


cdef int max_candidates(const SystemC* system, int n) noexcept nogil
cdef int legal_moves(const StateC* s, CandidateC* out) noexcept nogil
cdef int allowed_labels(const StateC* s, const CandidateC* c, uint8_t* mask) noexcept nogil
cdef bint walk_to_end(StateC* s, step_t step, void* walker) noexcept nogil
cdef void formula_costs(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil
cdef int best_rest(const StateC* s, const GoldC* gold) noexcept nogil
cdef int rest_loss(const StateC* s, const GoldC* gold) noexcept nogil
cdef int cost_of(
    const StateC* s, const GoldC* gold, int move, int k, int label, int push_label
) noexcept nogil
cdef int apply_oracle(
    const StateC* s, const GoldC* gold, int oracle, int push_label, bint exact, CandidateC* out
) noexcept nogil
cdef void learn_cheapest(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil
