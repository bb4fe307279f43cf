"""What every search shares: scratch memory, and choosing labels."""
from libc.stdint cimport uint64_t

from spacy_nmparse.scorers.features cimport MAX_FACTS, MAX_SLOTS
from spacy_nmparse.scorers.state_scorer_kernel cimport StateScorerC
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.system cimport CandidateC, MoveC, SystemC


cdef struct ScratchC:
    StateC state
    void* block
    CandidateC* candidates
    float* pre              # (pieces * width,)
    float* hidden           # (width,)
    float* moves            # (move_stride,)
    float* labels           # (label_stride,)
    int words[MAX_SLOTS]
    int facts[MAX_FACTS]


cdef int scratch_init(
    ScratchC* scratch, const SystemC* system, const StateScorerC* scorer, int max_words
) except -1
cdef void scratch_free(ScratchC* scratch) noexcept nogil
cdef bint is_forced(
    const SystemC* system, const StateScorerC* scorer, const StateC* s, const CandidateC* c
) noexcept nogil
cdef int fixed_label(
    const SystemC* system, const StateC* s, const CandidateC* c
) noexcept nogil
cdef bint notes_label(
    const SystemC* system, const StateScorerC* scorer, const StateC* s, const CandidateC* c
) noexcept nogil


cdef inline float uniform(uint64_t* seed) noexcept nogil:
    """xorshift64*: the next number in [0, 1)."""
    seed[0] ^= seed[0] >> 12
    seed[0] ^= seed[0] << 25
    seed[0] ^= seed[0] >> 27
    return <float>((seed[0] * <uint64_t>0x2545F4914F6CDD1D) >> 40) / <float>16777216.0
