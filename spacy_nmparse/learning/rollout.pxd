"""Training rollouts of greedy search."""
from libc.stdint cimport int8_t, uint64_t

from spacy_nmparse.search.choice cimport SearchC
from spacy_nmparse.scorers.scorer cimport Scorer, ScorerC
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.table cimport MoveTable


cdef struct TeacherC:
    const ScorerC** scorers     # of each teacher
    int n
    float weight            # the teachers' share in the loss
    float* probabilities    # room for a value of each candidate
    float* labels           # room for the scores of labels
    float* of_one           # room for those of one teacher: candidates, or labels


cdef struct RolloutC:
    SearchC* search
    const GoldC* gold
    int oracle
    const TeacherC* teacher     # NULL: none
    float explore
    uint64_t* seed
    double loss                 # so far


cdef int oracle_for(const GoldC* gold, int oracle) noexcept nogil
cdef int roll_out(
    RolloutC* rollout, MoveTable system, Scorer scored, Gold gold, const int8_t* constraints,
    int offset, int oracle
) except -1
