"""Training rollouts of greedy search."""
from libc.stdint cimport uint64_t

from spacy_nmparse.search.choice cimport CandidateC, SearchC
from spacy_nmparse.search.sequences cimport Sequences
from spacy_nmparse.scorers.scorer cimport Scorer, ScorerC
from spacy_nmparse.systems.gold cimport Gold, GoldC


cdef struct TeacherC:
    const ScorerC** scorers     # of each teacher
    int n
    float weight            # the teachers' share in the loss
    float* probabilities    # room for a value of each candidate
    float* labels           # room for the scores of labels
    float* of_one           # room for those of one teacher: candidates, or labels


cdef struct RolloutC


# Learns from the current configuration, of whose candidates an oracle says which are right.
# predicted: the one that the scorer likes best. Returns the best right candidate.
ctypedef int (*judge_t)(RolloutC* rollout, int predicted) noexcept nogil


cdef struct RolloutC:
    SearchC* search
    judge_t judge
    const GoldC* gold
    int oracle
    const TeacherC* teacher     # NULL: none
    float explore
    uint64_t* seed
    double loss                 # so far


cdef class RuledScorer(Scorer):     # learns by a rule of its own, not by gradients
    cdef judge_t judge


cdef bint learns_label(SearchC* search, const CandidateC* c) noexcept nogil
cdef int oracle_for(const GoldC* gold, int oracle) noexcept nogil
cdef int roll_out(
    RolloutC* rollout, Sequences batch, Gold gold, int offset, int oracle
) except -1
cdef Sequences sequences_of(lesson)
