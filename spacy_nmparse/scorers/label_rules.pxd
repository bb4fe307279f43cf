"""Which labels a search may not give, whatever the scorer likes."""
from libc.stdint cimport uint8_t

from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport CandidateC


cdef struct LabelRulesC:
    int n_labels
    const uint8_t* unique       # label -> 1: a word has one dependent with it at most
    const uint8_t* childless    # label -> 1: words with it have no dependents


cdef int heed_rules(
    const LabelRulesC* rules, const StateC* s, const CandidateC* c, uint8_t* mask
) noexcept nogil


cdef class LabelRules:
    cdef LabelRulesC c
    cdef object arrays
