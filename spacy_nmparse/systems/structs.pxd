"""The structs of configurations, gold trees, moves and systems.

Words have the numbers 0 .. n-1; ROOT has number n. A ``StateC`` is a small header over one block of
memory; copying it is one memcpy.
"""


cdef enum:
    MAX_OWN = 4         # arrays of a system's own,
    MAX_NUMBERS = 4     # and numbers


cdef enum:
    NONE = -1           # no word, no label, unknown
    UNKNOWN_LABEL = -2  # a label that no system label can equal


cdef enum:
    MAX_MOVES = 12
    MAX_ORACLES = 16


cdef enum:  # names of moves; others have the numbers that new_move gives them
    SHIFT
    REDUCE
    LEFT_ARC
    RIGHT_ARC
    NO_ARC
    SWAP
    BREAK


cdef enum:  # what a move has to do with crossing arcs
    CROSSES_NEVER
    CROSSES_LATER       # it makes no arc, but arcs that cross possible
    CROSSES_BY_ARC      # its arc may cross others


cdef enum:  # names of oracles; others have the numbers that new_oracle gives them
    DYNAMIC
    STATIC
    EAGER
    ND_ALL


cdef struct StateC:
    const SystemC* system
    int n               # number of words; ROOT's number
    int start           # first word of the current sentence
    int end             # one past its last word once BREAK has closed it; before that, n
    int b               # next unread word; equals end when all are read
    int root_last       # 1: ROOT waits behind the last word of the buffer
    int n_stack
    int n_rebuffer
    int n_swaps         # SWAPs made so far
    int last_root_child   # ROOT's last dependent, or NONE: the innermost one
    int n_own           # how many arrays of its own the system uses: ``start`` tells
    int[MAX_NUMBERS] numbers   # for the system's own use, NONE at first
    int* stack          # bottom first
    int* rebuffer       # words put back in front of the buffer; front of the buffer LAST
    int* position       # word -> its place on the stack, or NONE
    int* head           # word -> its head, or NONE
    int* label          # word -> label of the arc from its head, or NONE
    int* push_label     # word -> label noted when it was pushed, or NONE
    int* left_child       # word -> its leftmost left dependent, or NONE
    int* right_child      # word -> its rightmost right dependent, or NONE
    int* inward         # word -> the next sibling on its side, towards the head, or NONE
    int* outward        # word -> the next sibling on its side, away from the head, or NONE
    int* n_left         # word -> number of left dependents
    int* n_right        # word -> number of right dependents
    signed char* sentence_start   # word -> 1: a BREAK was made before it; 0
    signed char* constraint       # word -> 1: must start a sentence, -1: must not, 0: free
    int* own            # n_own arrays of n + 1 numbers, NONE at first: for the system's own use
    int* entry          # room for the cost functions: not copied


cdef struct ViewC:
    int below        # that many items of the state's stack, from the bottom,
    int top          # and this word on them, or NONE
    bint headed      # whether it has a head: the item beneath it
    int label        # the label of that arc, or the label noted for it
    int b            # the next unread word
    bint has_left    # it has a dependent
    bint closed      # BREAK has been made before it


cdef struct TablesC:        # in front of the tables that a system makes of a gold tree
    const void* owner       # the address of one of its functions
    TablesC* next
    void* more              # a block that is freed with them, or NULL


cdef struct GoldC:
    int n
    const int* head                  # word -> gold head (n: ROOT), NONE: unknown
    const int* label                 # word -> gold label, NONE: unknown
    const signed char* sent_start    # word -> 1 starts a sentence, 0 does not, -1 unknown
    const int* child_offset            # word or ROOT -> where its dependents begin in children
    const int* children                  # dependents, in text order
    const int* next_start            # word -> first word >= it that may start a sentence, or n
    const int* n_roots               # word -> number of words before it whose gold head is ROOT
    const int* lost_from             # word -> words from it on whose gold head is a word before it
    const int* surplus_from          # word -> gold roots from it on but one in each sentence
    bint unknown_starts              # whether any sentence start is unknown
    int n_unknown                    # words whose head is unknown
    TablesC* tables                  # of systems' own; see tables_of


# A move k of which is taken in configuration s; label is the new arc's, push_label the one noted.
ctypedef bint (*precondition_t)(const StateC* s, int k) noexcept nogil
ctypedef void (*effect_t)(StateC* s, int k, int label, int push_label) noexcept nogil
ctypedef int (*cost_t)(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil
# One end of the move's labelled arc, or NONE where it makes no labelled arc.
ctypedef int (*arc_end_t)(const StateC* s, int k) noexcept nogil
# The k to try after k (the first: after 0), or NONE.
ctypedef int (*next_k_t)(const StateC* s, int k) noexcept nogil
ctypedef int (*loss_t)(const StateC* s, const GoldC* gold) noexcept nogil
# Words on the stack and from v.b to e that lose their gold head when the sentence ends before e.
ctypedef int (*inner_t)(const StateC* s, const GoldC* gold, const ViewC* v, int e) noexcept nogil
# Errors to come after the move, and its own, but for labels.
ctypedef int (*rest_t)(const StateC* s, const GoldC* gold, int k) noexcept nogil
# Errors to come in a configuration of a stack system.
ctypedef int (*view_rest_t)(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil
# The place among the candidates of the move of the canonical derivation, or NONE.
ctypedef int (*wanted_t)(
    const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil
ctypedef bint (*final_t)(const StateC* s) noexcept nogil
ctypedef void (*start_t)(StateC* s) noexcept nogil
# Brings an arc between words a and b into focus, one of which is headless: see search/completion.
# Changes nothing but s.b, s.n_stack, s.numbers and s.stack[0].
ctypedef void (*focus_t)(StateC* s, int a, int b) noexcept nogil
# Whether a and b do not differ in anything from word ``first`` on.
ctypedef bint (*alike_t)(const StateC* a, const StateC* b, int first) noexcept nogil
# Fills `learn` of each candidate, its costs given.
ctypedef void (*oracle_t)(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil

# Fills `learn` of each candidate, and `label` where it has to be the gold one: moves after which
# all known gold arcs can be made. No costs are given; what is found out may be noted in ``own``.
ctypedef void (*known_t)(
    StateC* s, const GoldC* gold, CandidateC* candidates, int n
) noexcept nogil

# Fills the tables of the gold tree that the system reads besides.
ctypedef int (*derive_t)(GoldC* gold, const SystemC* system) except -1

# Makes the next move of a configuration. False: it has not.
ctypedef bint (*step_t)(void* walker, StateC* s) noexcept nogil

# Fills `cost` and `cost_other` of each candidate, and `label` where it is not the dependent's own.
# The candidates are all legal moves, or one of them. Not exact: a cost above the minimum may be
# told as the minimum + 1.
ctypedef void (*costs_t)(
    const StateC* s, const GoldC* gold, int push_label, bint exact, CandidateC* candidates, int n
) noexcept nogil


cdef struct MoveC:
    int name                    # SHIFT, REDUCE, ...
    precondition_t precondition
    effect_t effect
    # What it costs, see candidates.pyx: a formula; or, without, what is lost behind it.
    cost_t cost
    rest_t rest
    arc_end_t head
    arc_end_t dependent
    next_k_t next_k             # NULL: k is 1
    arc_end_t attached          # the word that gets a head, or NONE: by default the dependent
    bint labelled               # the action has a label, that of the arc that the move makes
    bint notes_label            # it pushes a word, with the label that a later move may give it
    bint ends_sentence
    int crossing                # CROSSES_NEVER, ...
    precondition_t is_repair    # whether the move is non-monotonic here; NULL: never


cdef struct SystemC:
    int n_labels
    # Label -> 1: arcs from ROOT, and they alone, take it. NULL: arcs from ROOT take any label.
    const char* root_labels
    const void* own             # the system's own options; NULL: it has none
    bint nonmonotonic           # moves may delete arcs
    bint projective         # no arcs cross
    focus_t focus           # NULL: final configurations have no headless words
    bint explicit_root      # where words may end headless: arcs from ROOT are moves, with labels
    # The k-th item, from 1, that an arc with B0 can reach, or NONE. NULL: arcs reach the next one.
    arc_end_t item
    bint single_root
    bint segment
    int noted_arc           # place of the move whose labels pushes note, or NONE: they note none
    int n_moves
    MoveC moves[MAX_MOVES]
    derive_t derive             # NULL: the system reads no tables of its own
    start_t start               # makes an empty state the initial configuration
    final_t is_final
    alike_t alike
    loss_t loss
    costs_t costs               # all costs of a configuration at once; NULL: the moves tell them
    view_rest_t rest            # errors to come; NULL: those of the best move
    wanted_t wanted             # for ``static``
    bint breaks_behind          # BREAK ends a sentence behind b0, not before it
    oracle_t oracles[MAX_ORACLES]  # NULL: the system has no such oracle
    known_t keep_known          # NULL: the moves that DYNAMIC learns keep all arcs that they can


cdef struct CandidateC:
    int move        # place in the move table
    int k
    int head        # of the labelled arc that the move makes, or NONE: it makes none
    int dependent
    int label       # the one label that costs least, or NONE: all labels cost the same
    int cost        # with that label
    int cost_other  # with any other label
    int ticket      # learning: of its remembered label scores
    int learn       # what the oracle says: LEARN_NOT, LEARN_LABEL (with `label` only), LEARN_ANY


cdef enum:
    LEARN_NOT
    LEARN_LABEL
    LEARN_ANY
