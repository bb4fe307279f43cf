"""The interface of scorers, as search and learning call it."""
from spacy_nmparse.scorers.label_rules cimport LabelRules, LabelRulesC
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.structs cimport CandidateC
from spacy_nmparse.systems.table cimport MoveTable


# Configurations are, from now on, those of the sequence that starts at the batch's word ``offset``.
# first_row: the batch's word that the window of tables starts with.
ctypedef void (*begin_t)(void* scorer, int first_row, int offset) noexcept nogil
# Scores of the n legal moves of a configuration. While learning, the configuration is remembered.
ctypedef void (*score_t)(
    void* scorer, const StateC* s, const CandidateC* candidates, int n, float* out
) noexcept nogil
# Scores of the labels of a move's arc, in the configuration scored last. With `remember`, while
# learning: returns a ticket for label_gradient.
ctypedef int (*score_labels_t)(
    void* scorer, const StateC* s, const CandidateC* c, bint remember, float* out
) noexcept nogil
# Scores of the labels that a push made in the configuration scored last would note.
ctypedef void (*score_noted_t)(void* scorer, const StateC* s, float* out) noexcept nogil
# The gradient of the scores of the configuration scored last.
ctypedef void (*learn_t)(
    void* scorer, const StateC* s, const CandidateC* candidates, int n, const float* d_scores
) noexcept nogil
# Where the gradient of remembered label scores goes, zeros at first (NULL: out of memory).
ctypedef float* (*label_gradient_t)(void* scorer, int ticket) noexcept nogil
# Keep the configuration scored last: returns a ticket for recall. What was kept under the same
# place is lost; while learning, the place does not matter and nothing is lost.
ctypedef int (*keep_t)(void* scorer, int place) noexcept nogil
# Make a kept configuration the one scored last. Candidates: its own, for learn; or none of them.
ctypedef void (*recall_t)(
    void* scorer, int ticket, const StateC* s, const CandidateC* candidates, int n
) noexcept nogil
# Scorers that learn from examples, not by gradients: another one has been looked at. It is the
# configuration scored last, with what the oracle says of its candidates; or, where a beam is
# learned from, a sentence, without candidates.
ctypedef void (*note_example_t)(
    void* scorer, const StateC* s, const CandidateC* candidates, int n
) noexcept nogil
# Add an amount to the weights of a move with a label, or NONE, in the configuration scored last.
ctypedef void (*add_t)(void* scorer, const CandidateC* c, int label, float amount) noexcept nogil
# What can be learned from a sequence's gold tree without a configuration. Returns the loss.
ctypedef double (*learn_tree_t)(void* scorer, const GoldC* gold) noexcept nogil


cdef struct ScorerC:
    void* self
    int n_labels
    int label_stride        # label scores come in arrays of this length, the last ones padding
    bint notes_labels       # a push notes a label, chosen by score_noted
    # A move has the score of its best label, and beams add scores up as they are. Otherwise the
    # softmax of moves, and that of a move's labels, are probabilities.
    bint unnormalized
    float crossing_bias     # what searches add to the scores of moves that make arcs cross
    const LabelRulesC* rules    # which labels searches may not give; NULL: no rules
    begin_t begin
    score_t score
    score_labels_t score_labels
    score_noted_t score_noted
    learn_t learn               # NULL: it learns by a rule of its own, not by gradients
    label_gradient_t label_gradient
    keep_t keep
    recall_t recall
    learn_tree_t learn_tree     # NULL: nothing
    note_example_t note_example
    add_t add                   # NULL: examples are all that it needs


cdef class Scorer:
    cdef ScorerC c
    cdef readonly MoveTable system   # whose moves are scored
    cdef readonly int n_words           # of the batch
    cdef readonly int lookahead         # words from B0 on that are looked at
    cdef readonly int margin            # words before the sentence that are looked at
    cdef public object tag_scores       # float32 (words, values of all attributes) or None
    cdef LabelRules rules
    cdef int first_row                  # the batch's word that the window of tables starts with
    cdef int last_row

    cdef int check_system(self, MoveTable system) except -1
    cdef int make_tables(self, int first, int last) except -1
    cdef int set_window(self, int first, int last) except -1
    cdef void begin(self, int offset) noexcept
    cdef int make_places(self, int n) except -1
    cdef void set_learning(self, bint on) noexcept
