"""Some sequences of moves over the same words, as a tree: what global training learns from."""
from libc.stdint cimport int8_t

from spacy_nmparse.search.choice cimport CandidateC, SearchC
from spacy_nmparse.search.hypotheses cimport RecordC
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.systems.table cimport MoveTable


# A move, and the configuration that it leads to. The first has no move: it is the start.
cdef struct NodeC:
    int before          # the node before it, or NONE
    int first           # the first of the nodes that follow it, or NONE
    int other           # another node that follows the one before it, or NONE
    RecordC move
    # The move.
    double score        # of all moves so far
    double gradient     # of the loss by the scores of the sequences that have this move
    int label_ticket    # of its label scores, or NONE
    double label_total
    size_t labels       # where they begin among the floats
    bint ends           # a sequence ends with it
    bint right          # a right one
    # The configuration.
    bint visited
    int ticket
    double total
    size_t scores


cdef enum:  # what is done in each configuration
    SCORE
    LEARN
    CORRECT


cdef inline bint same_move(const RecordC* a, const RecordC* b) noexcept nogil:
    return a.move == b.move and a.k == b.k and a.label == b.label and a.noted == b.noted


cdef class MoveTree:
    cdef MoveTable system
    cdef Scorer scored
    cdef SearchC search
    cdef int n_words
    cdef const int8_t* constraints
    cdef NodeC* nodes
    cdef int* path              # nodes, or records, of one sequence
    cdef int n_nodes
    cdef int max_nodes
    cdef float* floats
    cdef size_t n_floats
    cdef size_t max_floats
    cdef double* end_scores
    cdef bint failed            # out of memory

    cdef void begin(self, int n, const int8_t* constraints) noexcept nogil
    cdef void add(self, const RecordC* records, int last, bint right) noexcept nogil
    cdef double learn(self) noexcept nogil
    cdef double correct(self) noexcept nogil
    cdef double log_share(self, bint right) noexcept nogil
    cdef void pass_gradients(self) noexcept nogil
    cdef bint make_room(self, int n) noexcept nogil
    cdef int add_node(self, int before, const RecordC* move) noexcept nogil
    cdef int follow(self, int at, const RecordC* move) noexcept nogil
    cdef void visit(self, int what) noexcept nogil
    cdef void replay(self, int end, int what) noexcept nogil
    cdef void score_node(self, NodeC* node) noexcept nogil
    cdef void learn_node(self, const NodeC* node) noexcept nogil
    cdef void correct_node(self, const NodeC* node) noexcept nogil
    cdef const CandidateC* candidate_of(self, const RecordC* move) noexcept nogil
    cdef size_t copy_floats(self, const float* new, int n) noexcept nogil
