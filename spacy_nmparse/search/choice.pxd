"""What a search chooses from: the legal moves of a configuration, their scores, their labels."""
from libc.stdint cimport int8_t, int32_t, uintptr_t

from spacy_nmparse.scorers.scorer cimport Scorer, ScorerC
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.system cimport LEARN_LABEL, CandidateC, SystemC, TransitionSystem


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


# How sure a search is, of each word; head NULL: nobody asks. See confidence.pyx.
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
    ConfidenceC confidence
    CandidateC* candidates  # the legal moves of s
    int n                   # how many they are
    float* scores           # of each of them
    float* labels           # (label_stride,): scores of the labels of one move
    # Room for a value of each candidate or word.
    float* values
    float* shares
    double* logs


cdef int search_init(
    SearchC* search, const SystemC* system, const ScorerC* scorer, int max_words
) except -1
cdef void search_free(SearchC* search) noexcept nogil
cdef int check_batch(
    TransitionSystem system, Scorer scored, const int[::1] sizes, const int8_t[::1] constraints,
    const float[:, ::1] probabilities=*
) except -1
cdef uintptr_t[::1] addresses(TransitionSystem system, given, const int[::1] sizes)
cdef void begin_state(
    SearchC* search, StateC* s, void* block, int n, const int8_t* constraints
) noexcept nogil
cdef bint find_moves(SearchC* search) noexcept nogil
cdef int noted_by_push(SearchC* search) noexcept nogil
cdef void score_labels(SearchC* search, const CandidateC* c, int kind) noexcept nogil
cdef void choose_label(SearchC* search, ChoiceC* choice, int kind) noexcept nogil
cdef void write_tree(
    const StateC* s, int first, int last, int shift, int32_t* heads, int32_t* labels,
    int8_t* starts
) noexcept nogil


cdef inline int fixed_label(const SearchC* search, const CandidateC* c) noexcept nogil:
    """The label of the move's arc where the scorer has no choice, else NONE."""
    cdef const SystemC* system = search.system
    if system.n_labels == 1:
        return 0
    if search.given is not NULL and c.learn == LEARN_LABEL:
        return c.label
    if system.n_root_labels == 1 and c.head == search.s.n:
        return system.root_label
    if system.n_root_labels == 1 and system.n_labels == 2:
        return 1 - system.root_label
    return NONE


cdef inline bint pushes_note(const SearchC* search) noexcept nogil:
    """Whether the scorer chooses a label for what a push in this configuration notes."""
    return search.scorer.notes_labels and search.s.n_stack > 0 and search.system.n_labels > 1


cdef inline int label_choice(const SearchC* search, const CandidateC* c) noexcept nogil:
    """Which label of a move the scorer chooses: NO_LABEL, ARC_LABEL or PUSH_LABEL."""
    if c.dependent != NONE:
        return ARC_LABEL if fixed_label(search, c) == NONE else NO_LABEL
    if search.system.moves[c.move].notes_label and pushes_note(search):
        return PUSH_LABEL
    return NO_LABEL


cdef inline int begin_choice(
    const SearchC* search, const CandidateC* c, ChoiceC* choice
) noexcept nogil:
    """Choose a move, with the label of its arc if that is fixed. Returns its label_choice."""
    choice.move = c[0]
    choice.label = NONE if c.dependent == NONE else fixed_label(search, c)
    choice.noted = choice.label
    choice.move_p = 1
    choice.label_p = 1
    return label_choice(search, c)
