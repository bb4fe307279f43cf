"""Training rollouts of greedy search."""
from libc.stdint cimport uint64_t

from spacy_nmparse.learning.search cimport ScratchC
from spacy_nmparse.scorers.scorer cimport ScorerC
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.system cimport SystemC


cdef struct TotalsC:
    double loss
    int steps


cdef struct WeightsC:                # of the loss of configurations where nothing is right but ...
    float repair                     # repairs (is_repair)
    float crossing                   # gold arcs that cross others, and SWAP
    const signed char* crosses       # word -> whether its gold arc does; NULL: the weight is 1


cdef int oracle_for(const GoldC* gold, int oracle) noexcept nogil
cdef void roll_out(
    const SystemC* system, const ScorerC* scorer, ScratchC* scratch, const GoldC* gold,
    int oracle, float explore, const WeightsC* weights, uint64_t* seed, TotalsC* totals
) noexcept nogil
