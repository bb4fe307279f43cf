"""Choices of a search: the legal moves of a configuration, their scores, their labels."""
from libc.stdint cimport int8_t, int32_t, uint8_t

from spacy_nmparse.scorers.scorer cimport ScorerC
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.structs cimport CandidateC, SystemC


cdef enum:  # which label of a move the scorer chooses
    NO_LABEL
    ARC_LABEL
    PUSH_LABEL  # the one that a push notes


# A legal move with the labels that it gets.
cdef struct ChoiceC:
    CandidateC move
    int label       # of its arc, or NONE
    int noted       # what a later move may give: the arc's label, or a push's, or NONE
    float move_p    # its probability among the legal moves; 1: nobody asks
    float label_p   # that of the label among those of the move; 1: there is no choice


# Confidence per word (see confidence.pyx); ``head`` is NULL if not requested.
cdef struct ConfidenceC:
    float* head         # the probability of the move, or the completion, that attached it
    float* label        # the probability of its label
    float* untouched    # that the other moves before and after attach it nowhere
    float* noted        # the probability of the label noted when it was pushed
    float* attaching    # that of the current configuration's moves that attach it, or 0
    int* listed         # how many words have one above 0, and these words


# A search over sequences of up to max_words words; its memory is for one configuration at a time.
cdef struct SearchC:
    const SystemC* system
    const ScorerC* scorer
    const GoldC* given      # a tree whose known arcs are kept; NULL: none
    StateC* s               # the current configuration: own_state, or somebody else's
    StateC own_state
    void* own_block
    bint completes          # headless words get a head at the end of their sentence
    int* heads              # then: words' best heads,
    int shift               # and the places of these moves in the table
    int left_arc
    int right_arc
    ConfidenceC confidence
    CandidateC* candidates  # the legal moves of s
    int n                   # how many they are
    float* scores           # of each of them
    float* labels           # (label_stride,): scores of the labels of one move
    uint8_t* mask           # (n_labels,): those that the move looked at last may take
    int only                # the one label that its arc may take, or NONE: there is a choice
    # Room for a value of each candidate or word.
    float* values
    float* shares
    double* logs


cdef int search_init(
    SearchC* search, const SystemC* system, const ScorerC* scorer, int max_words
) except -1
cdef void search_free(SearchC* search) noexcept nogil
cdef void begin_state(
    SearchC* search, StateC* s, void* block, int n, const int8_t* constraints
) noexcept nogil
cdef bint find_moves(SearchC* search) noexcept nogil
cdef int noted_by_push(SearchC* search) noexcept nogil
cdef int mask_labels(SearchC* search, const CandidateC* c) noexcept nogil
cdef void score_labels(SearchC* search, const CandidateC* c, int kind) noexcept nogil
cdef void choose_label(SearchC* search, ChoiceC* choice, int kind) noexcept nogil
cdef void write_tree(
    const StateC* s, int first, int last, int shift, int32_t* heads, int32_t* labels,
    int8_t* starts
) noexcept nogil


cdef inline bint pushes_note(const SearchC* search) noexcept nogil:
    """Whether the scorer chooses a label for what a push in this configuration notes."""
    return search.scorer.notes_labels and search.s.n_stack > 0 and search.system.n_labels > 1


cdef inline int label_choice(SearchC* search, const CandidateC* c) noexcept nogil:
    """Which label of a move the scorer chooses: NO_LABEL, ARC_LABEL or PUSH_LABEL. It is one of
    ``search.mask``, or of an arc with NO_LABEL ``search.only``."""
    if c.dependent != NONE:
        return ARC_LABEL if mask_labels(search, c) != 1 else NO_LABEL
    if search.system.moves[c.move].notes_label and pushes_note(search):
        mask_labels(search, c)
        return PUSH_LABEL
    return NO_LABEL


cdef inline int begin_choice(
    SearchC* search, const CandidateC* c, ChoiceC* choice
) noexcept nogil:
    """Choose a move, with the label of its arc if that is fixed. Returns its label_choice."""
    cdef int kind = label_choice(search, c)
    choice.move = c[0]
    choice.label = NONE if c.dependent == NONE else search.only
    choice.noted = choice.label
    choice.move_p = 1
    choice.label_p = 1
    return kind
