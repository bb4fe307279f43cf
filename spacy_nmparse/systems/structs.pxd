"""What configurations, gold trees, moves and systems are made of.

Words have the numbers 0 .. n-1; ROOT has number n. A ``StateC`` is a small header over one block of
memory; copying it is one memcpy.
"""


cdef enum:
    MAX_OWN = 4         # arrays of a system's own


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


cdef enum:  # by which tables a system knows what is lost where gold arcs cross; see crossing/
    BY_NONE
    BY_LEAVING
    BY_GROWING


cdef enum:  # names of oracles; others have the numbers that new_oracle gives them
    DYNAMIC
    STATIC
    MONOTONIC
    COMBINED
    EAGER
    LAZY
    MINIMAL
    ND_SW
    ND_ALL


cdef struct StateC:
    const SystemC* system
    int n               # number of words; ROOT's number
    int start           # first word of the current sentence
    int end             # one past its last word once BREAK has closed it; before that, n
    int b               # next unread word; equals end when all are read
    int root_last       # 1: ROOT waits behind the last word of the buffer
    int n_stack
    int n_other
    int plane           # two_planar: which plane the stack is of, 0 or 1
    int switched        # two_planar, 1: SWITCH was made since the last SHIFT
    int revised         # decoupled repairs: S0, if it was lowered or raised with this B0, or NONE
    int n_rebuffer
    int n_swaps         # SWAPs made so far
    int n_lambda1       # list systems: lambda1 is that many of the items, lambda2 the rest of them
    int lists           # 1: a configuration of a list system
    int root_first      # list systems, 1: ROOT is the first item; the others are start .. b - 1
    int last_root_child   # ROOT's last dependent, or NONE: the innermost one
    int root_child      # with one_root: the last word that got an arc from ROOT, or NONE
    int root_label      # list systems: label of the words that tree() hangs off ROOT, or NONE
    int one_root        # list systems, arc-swift, 1: each sentence gets one child of ROOT
    int extended        # 1: ``start`` has declared that other_stack .. mark are used
    int n_own           # and that so many arrays of its own are, up to MAX_OWN
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
    # Of systems with ``extended``; copied for those only.
    int* other_stack    # two_planar: that of the other plane; see swap_stacks
    int* other_position   # word -> its place there, or NONE
    int* link           # union-find: word -> the next, or minus its set's size
    int* top            # first of a set -> the word that heads it, or NONE: itself
    int* mark           # room for the cost functions: word -> a mark, 0 at first; see covington.pyx
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


cdef struct CrossingC:               # what is lost where arcs cross; see crossing/stretches.pyx
    int* head                        # word -> gold head, FREE or LOST
    int* first                       # word -> the first word of its stretch
    int* size                        # word -> how many words that has; 0: no arcs cross in it
    int* table                       # word -> where in tables those of its stretch begin
    int* behind                      # word -> errors from it on, when a sentence starts there
    int* room                        # for growing.pyx: words times the longest stretch's words + 3
    short* tables


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
    CrossingC* crossing              # NULL: no arcs cross, or no system needs it
    int crossing_form                # of which systems' tables these are; 0: of none


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
# The cost of the move at this place of the table.
ctypedef int (*move_cost_t)(
    const StateC* s, const GoldC* gold, int move, int k, int label, int push_label
) noexcept nogil
# Words on the stack and from v.b to e that lose their gold head when the sentence ends before e.
ctypedef int (*inner_t)(const StateC* s, const GoldC* gold, const ViewC* v, int e) noexcept nogil
# Errors in the i-th stack item when it leaves the stack with this word at the front, or ROOT: at
# the end of the sentence; NONE: a word that is not its gold head.
ctypedef int (*leave_t)(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int front
) noexcept nogil
# Errors to come after the move, and its own, but for labels.
ctypedef int (*rest_t)(const StateC* s, const GoldC* gold, int k) noexcept nogil
# The place among the candidates of the move of the canonical derivation, or NONE.
ctypedef int (*wanted_t)(
    const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil
ctypedef bint (*final_t)(const StateC* s) noexcept nogil
ctypedef void (*start_t)(StateC* s) noexcept nogil
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
ctypedef void (*costs_t)(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil


cdef struct MoveC:
    int name                    # SHIFT, REDUCE, ...
    precondition_t precondition
    effect_t effect
    cost_t cost                 # the paper's formula; NULL: the system's ``cost`` has all
    rest_t rest                 # what ``differences`` makes costs of; NULL: not used
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
    int root_label              # of the labels that arcs from ROOT, and they alone, take, the first
    int n_root_labels           # how many these are; 0: arcs from ROOT take any label
    const char* root_labels     # label -> 1: it is one of these; NULL: there is none
    const void* own             # the system's own options; NULL: it has none
    bint nonmonotonic           # moves may delete arcs
    bint explicit_root          # systems with headless words: arcs from ROOT are moves
    int max_length              # no arc between words is longer; 0: any length
    bint projective         # no arcs cross
    bint headless           # final configurations may have headless words
    # Places, in the move table, of the moves that pass j by (systems with headless words) and that
    # make its arcs (the same, and arc-eager).
    int shift
    int left_arc
    int right_arc
    bint one_focus          # the arcs of a configuration all join one word, the later, to others
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
    # The cost of a move; the one place that chooses between the formulas of the table and others.
    move_cost_t cost
    bint formulas               # the cost is told by the ``cost`` of each move
    bint differences            # it is told by the ``rest`` of each move
    # What sentences, differences and static make losses, costs and oracles of; NULL: not used.
    inner_t inner
    int tabulates               # BY_NONE, ...
    leave_t leave               # with BY_LEAVING
    bint root_first             # with BY_LEAVING: ROOT is at the bottom of the stack
    bint breaks_behind          # BREAK ends a sentence behind b0, not before it
    bint end_attaches           # its end can give heads to words of a sentence that have lost them
    loss_t rest_here            # errors to come, as far as they are known without making a move
    wanted_t wanted
    costs_t costs               # all costs of a configuration at once; NULL: one by one
    # Like costs, but a cost above the minimum may be reported as minimum + 1. NULL: use costs.
    costs_t least_costs
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
