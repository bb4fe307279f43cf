"""Training rollouts of greedy search."""
from libc.stdint cimport uint64_t

from spacy_nmparse.search.choice cimport SearchC
from spacy_nmparse.scorers.scorer cimport ScorerC
from spacy_nmparse.systems.gold cimport GoldC


cdef struct TotalsC:
    double loss
    int steps


cdef struct TeacherC:
    const ScorerC* scorer
    float weight            # the teacher's share in the loss
    float* probabilities    # room for a value of each candidate
    float* labels           # room for the scores of labels


cdef struct RolloutC:
    SearchC* search
    const GoldC* gold
    int oracle
    const TeacherC* teacher     # NULL: none
    float explore
    uint64_t* seed
    TotalsC* totals


cdef int oracle_for(const GoldC* gold, int oracle) noexcept nogil
cdef void roll_out(RolloutC* rollout) noexcept nogil
