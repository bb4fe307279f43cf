"""Features: which words and facts of a configuration scorers look at."""
from spacy_nmparse.systems.between cimport COUNT_VALUES
from spacy_nmparse.systems.state cimport StateC


cdef enum:  # facts of a word
    LABEL
    N_LEFT
    N_RIGHT
    TOKEN               # from here on: those of its token, by column


cdef enum:
    MAX_SLOTS = 32
    MAX_FACTS = 32
    MAX_HOPS = 3
    DISTANCE_VALUES = 12    # those of ``apart``


# The i-th word of its kind, or NONE; head and dependent are those of an arc that is looked at, or
# NONE.
ctypedef int (*word_t)(const StateC* s, int i, int head, int dependent) noexcept nogil
# The value of a fact; 0: there is nothing to know.
ctypedef int (*fact_t)(const StateC* s, int head, int dependent) noexcept nogil


cdef struct WordC:      # how to find one word: where to start, then hops along arcs
    word_t base
    int place
    int n_hops
    int hops[MAX_HOPS]
    int slot            # an earlier slot whose word is on the way there, or NONE
    int n_known         # hops that lead to that one


cdef struct FactC:
    fact_t value        # NULL: of a word
    int kind            # of a word's token: TOKEN + its column
    WordC word


cdef struct FeaturesC:
    int n_slots             # all of them: first the single words, then the pairs, two by two
    int n_singles
    int n_facts
    WordC slots[MAX_SLOTS]
    FactC facts[MAX_FACTS]


cdef int new_word(str letter, word_t word) except -1
cdef int new_fact(str name, int n_values, fact_t value) except -1
cdef void find_words(
    const FeaturesC* features, const StateC* s, int head, int dependent, int* out
) noexcept nogil
cdef void find_facts(
    const FeaturesC* features, const StateC* s, int head, int dependent, const int* words, int* out
) noexcept nogil


cdef int apart(const StateC* s, int a, int b) noexcept nogil


cdef class Features:
    cdef FeaturesC c
    cdef readonly tuple words
    cdef readonly tuple pairs
    cdef readonly tuple facts
    cdef readonly dict token_facts      # by name, in the order of their columns
    cdef list n_values
