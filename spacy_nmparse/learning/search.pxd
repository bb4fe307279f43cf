"""What every search shares: scratch memory, and choosing labels."""
from spacy_nmparse.scorers.scorer cimport ScorerC
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.system cimport CandidateC, SystemC


cdef struct ScratchC:
    StateC state
    void* block
    CandidateC* candidates
    float* scores           # of each candidate
    float* shares           # of each candidate; room for the loss
    float* right            # of each candidate; room for the loss
    double* logs            # of each candidate; room for the loss
    float* labels           # (label_stride,)
    # How sure the search was, of each word; NULL: nobody asks.
    float* head_share       # the share of the move that attached it, or of the choice in completion
    float* kept_share       # the probability that the moves before and after it attach it nowhere
    float* label_share      # the share of its label
    float* noted_share      # the share of the label noted when it was pushed


cdef int scratch_init(
    ScratchC* scratch, const SystemC* system, const ScorerC* scorer, int max_words
) except -1
cdef void score_moves(
    const SystemC* system, const ScorerC* scorer, const StateC* s, const CandidateC* candidates,
    int n, float* out
) noexcept nogil
cdef float share_of(const float* scores, int n, int skip, int which) noexcept nogil
cdef void scratch_free(ScratchC* scratch) noexcept nogil
cdef bint is_forced(
    const SystemC* system, const ScorerC* scorer, const StateC* s, const CandidateC* c
) noexcept nogil
cdef int fixed_label(
    const SystemC* system, const StateC* s, const CandidateC* c
) noexcept nogil
cdef bint notes_label(
    const SystemC* system, const ScorerC* scorer, const StateC* s, const CandidateC* c
) noexcept nogil
