"""Training rollouts of greedy search."""
from libc.stdint cimport uint64_t

from spacy_nmparse.learning.search cimport ScratchC
from spacy_nmparse.scorers.scorer cimport ScorerC
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.system cimport SystemC


cdef struct TotalsC:
    double loss
    int steps


cdef int oracle_for(const GoldC* gold, int oracle) noexcept nogil
cdef void roll_out(
    const SystemC* system, const ScorerC* scorer, ScratchC* scratch, const GoldC* gold,
    int oracle, float explore, float repair_weight, uint64_t* seed, TotalsC* totals
) noexcept nogil
