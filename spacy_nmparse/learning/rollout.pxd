"""Training rollouts of greedy search."""
from libc.stdint cimport uint64_t

from spacy_nmparse.search.common cimport ScratchC
from spacy_nmparse.scorers.scorer cimport ScorerC
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.system cimport SystemC


cdef struct TotalsC:
    double loss
    int steps


cdef struct TeacherC:
    const ScorerC* scorer
    float weight            # the teacher's share in the loss
    float* probabilities    # room for a value of each candidate
    float* labels           # room for the scores of labels, by the teacher
    float* own_labels       # and by the scorer that learns


cdef int oracle_for(const GoldC* gold, int oracle) noexcept nogil
cdef void roll_out(
    const SystemC* system, const ScorerC* scorer, const TeacherC* teacher, ScratchC* scratch,
    const GoldC* gold, int oracle, float explore, uint64_t* seed, TotalsC* totals
) noexcept nogil
