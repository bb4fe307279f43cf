"""Training rollouts of greedy search."""
from libc.stdint cimport uint64_t

from spacy_nmparse.search.choice cimport SearchC
from spacy_nmparse.search.sequences cimport Sequences
from spacy_nmparse.scorers.scorer cimport ScorerC
from spacy_nmparse.systems.gold cimport Gold, GoldC


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
    RolloutC* rollout, Sequences batch, Gold gold, int offset, int oracle
) except -1
cdef Sequences sequences_of(lesson)
