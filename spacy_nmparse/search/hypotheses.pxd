"""The hypotheses of a beam search, for parsing and for learning."""
from libc.stdint cimport int8_t

from spacy_nmparse.search.sequences cimport OutputC
from spacy_nmparse.search.choice cimport ChoiceC, SearchC, StateC
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.table cimport MoveTable


cdef enum:  # why a search stops
    FINISHED    # all that is wanted is final
    SETTLED     # a sentence start that all hypotheses share
    BLIND       # a hypothesis would look behind the words of its configuration


cdef struct HypothesisC:
    StateC state
    void* block
    double score
    double total            # of the scores of its moves, those of settled words, too
    int moves
    double* entered         # word -> the score when its sentence began, if one began with it
    int last                # learning: the record of its last move, or NONE
    bint right              # learning: the oracle allows all its moves
    float* confidence       # (4, max_words), see Beam.set_current; NULL: nobody asks


# A move of a hypothesis, without a label or with one.
cdef struct ItemC:
    double score
    float raw               # breaks ties, as in greedy search
    int parent              # place among the hypotheses
    int move                # with a label: place among the moves
    bint stays              # the hypothesis makes no more moves
    bint right
    ChoiceC choice


# The best items, sorted.
cdef struct BestItemsC:
    ItemC* items
    int n
    int most


# A move that some hypothesis has made.
cdef struct RecordC:
    int before              # the record of the move before it, or NONE
    int move                # place in the move table
    int k
    int label
    int noted
    double score            # of the hypothesis that has made it


cdef class Beam:
    cdef MoveTable system
    cdef Scorer scored
    cdef SearchC search
    cdef int lookahead          # words from the next one on that it and the system look at
    cdef int width
    cdef double gap             # hypotheses that are worse than the best one by more are given up
    cdef int max_words
    cdef int n_live
    cdef int n_free
    cdef int settled            # word of the window before which all is decided
    cdef int scored_last        # the hypothesis whose configuration the scorer scored last, or NONE
    cdef HypothesisC* live      # best first
    cdef HypothesisC* next
    cdef HypothesisC* unused
    cdef int* children          # of each hypothesis
    cdef BestItemsC moves
    cdef BestItemsC choices     # moves with labels
    cdef float* attaching       # (width, max_words), see ConfidenceC; NULL: nobody asks
    cdef int* listed            # (width, 1 + max_words)
    # Learning.
    cdef const GoldC* gold      # NULL: parsing
    cdef int oracle
    cdef bint held              # to moves that the oracle allows
    cdef int stop               # a hypothesis that has begun a sentence here or later stays
    cdef RecordC* records
    cdef int n_records
    cdef int max_records
    cdef bint failed            # out of memory for records

    cdef void begin(self, int n, const int8_t* constraints) noexcept
    cdef void set_current(self, HypothesisC* h, int parent) noexcept nogil
    cdef void take(self, HypothesisC* out) noexcept nogil
    cdef void release(self, const HypothesisC* h) noexcept nogil
    cdef void drop(self, int i) noexcept nogil
    cdef int run(self, int n_words, int wanted) noexcept nogil
    cdef bint sees(self, int n_words) noexcept nogil
    cdef bint stays(self, const HypothesisC* h) noexcept nogil
    cdef double gain_of_staying(self, const HypothesisC* h) noexcept nogil
    cdef bint step(self) noexcept nogil
    cdef void offer_moves(self, int parent) noexcept nogil
    cdef void offer_labels(self, int move) noexcept nogil
    cdef void inherit(self) noexcept nogil
    cdef bint make(self, HypothesisC* h, const ItemC* item) noexcept nogil
    cdef int record(self, const HypothesisC* h, const ChoiceC* choice) noexcept nogil
    cdef bint settle(self) noexcept nogil
    cdef double end_of(self, int i, int last) noexcept nogil
    cdef void fill(self, int first, int last, int shift, const OutputC* out) noexcept nogil
    cdef void forget(self) noexcept nogil
