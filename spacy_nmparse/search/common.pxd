"""What every search shares: scratch memory, choosing labels, and how sure it is."""
from spacy_nmparse.scorers.scorer cimport ScorerC
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.system cimport CandidateC, SystemC


# How sure a search is, of each word; head NULL: nobody asks.
cdef struct SureC:
    float* head     # the share of the move that attached it, or of the choice in completion
    float* label    # the share of its label
    float* kept     # the probability that the other moves before and after attach it nowhere
    float* noted    # the share of the label noted when it was pushed


# Before a move: whom it may attach.
cdef struct MomentC:
    int words[4]
    int heads[4]


cdef struct ScratchC:
    StateC state
    void* block
    CandidateC* candidates
    float* scores           # of each candidate
    float* values           # of each candidate; room for the loss
    float* right            # of each candidate; room for the loss
    double* logs            # of each candidate; room for the loss
    float* labels           # (label_stride,)
    SureC sure


cdef int scratch_init(
    ScratchC* scratch, const SystemC* system, const ScorerC* scorer, int max_words
) except -1
cdef void score_moves(
    const SystemC* system, const ScorerC* scorer, const StateC* s, const CandidateC* candidates,
    int n, float* out
) noexcept nogil
cdef float probability_of(const float* scores, int n, int skip, int which) noexcept nogil
cdef bint is_only_word(const SystemC* system, const StateC* s) noexcept nogil
cdef void weigh(
    const SystemC* system, const StateC* s, const CandidateC* candidates, const float* scores,
    int n, float* elsewhere
) noexcept nogil
cdef void keep(
    const SystemC* system, const StateC* s, const CandidateC* c, const float* elsewhere,
    const SureC* sure
) noexcept nogil
cdef void look(const StateC* s, const CandidateC* c, MomentC* moment) noexcept nogil
cdef void note(
    const StateC* s, const CandidateC* c, const MomentC* moment, float move, float label,
    const SureC* sure
) noexcept nogil
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
