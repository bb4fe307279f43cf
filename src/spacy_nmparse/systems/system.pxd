"""A transition system: a table of moves, each with its precondition, effect and cost.

Other Cython code can cimport everything here and in the modules of the single systems; no function
allocates, takes the GIL or touches a Python object.
"""
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.state cimport NONE, UNKNOWN_LABEL, State, StateC, final_t
from spacy_nmparse.systems.views cimport ViewC


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


# A move k of which is taken in configuration s; label is the new arc's, push_label the one noted.
ctypedef bint (*precondition_t)(const SystemC* system, const StateC* s, int k) noexcept nogil
ctypedef void (*effect_t)(
    const SystemC* system, StateC* s, int k, int label, int push_label
) noexcept nogil
ctypedef int (*cost_t)(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil
# One end of the move's labelled arc, or NONE where it makes no labelled arc.
ctypedef int (*arc_end_t)(const SystemC* system, const StateC* s, int k) noexcept nogil
# The k to try after k (the first: after 0), or NONE.
ctypedef int (*next_k_t)(const SystemC* system, const StateC* s, int k) noexcept nogil
ctypedef int (*loss_t)(const SystemC* system, const StateC* s, const GoldC* gold) noexcept nogil
# The cost of the move at this place of the table.
ctypedef int (*move_cost_t)(
    const SystemC* system, const StateC* s, const GoldC* gold, int move, int k, int label,
    int push_label
) noexcept nogil
# Words on the stack and from v.b to e that lose their gold head when the sentence ends before e.
ctypedef int (*inner_t)(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int e
) noexcept nogil
# Errors in the i-th stack item when it leaves the stack with this word at the front, or ROOT: at
# the end of the sentence; NONE: a word that is not its gold head.
ctypedef int (*leave_t)(
    const SystemC* system, const StateC* s, const GoldC* gold, const ViewC* v, int i, int front
) noexcept nogil
# Errors to come after the move, and its own, but for labels.
ctypedef int (*rest_t)(
    const SystemC* system, const StateC* s, const GoldC* gold, int k
) noexcept nogil
# The place among the candidates of the move of the canonical derivation, or NONE.
ctypedef int (*wanted_t)(
    const SystemC* system, const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil
ctypedef void (*start_t)(const SystemC* system, StateC* s) noexcept nogil
# Whether a and b do not differ in anything from word ``first`` on.
ctypedef bint (*alike_t)(const StateC* a, const StateC* b, int first) noexcept nogil
# Fills `learn` of each candidate, its costs given.
ctypedef void (*oracle_t)(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil

# Makes the next move of a configuration. False: it has not.
ctypedef bint (*step_t)(void* walker, const SystemC* system, StateC* s) noexcept nogil

# Fills `cost` and `cost_other` of each candidate, and `label` where it is not the dependent's own.
ctypedef void (*costs_t)(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
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
    int root_label              # the label that arcs from ROOT, and they alone, take; NONE: any
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
    start_t start               # makes an empty state the initial configuration
    final_t is_final
    alike_t alike
    loss_t loss
    # The cost of a move; the one place that chooses between the formulas of the table and others.
    move_cost_t cost
    # What sentences, differences and static make losses, costs and oracles of; NULL: not used.
    inner_t inner
    int tabulates               # BY_NONE, ...
    leave_t leave               # with BY_LEAVING
    bint root_first             # with BY_LEAVING: ROOT is at the bottom of the stack
    bint end_attaches           # its end can give heads to words of a sentence that have lost them
    loss_t rest_here            # errors to come, as far as they are known without making a move
    wanted_t wanted
    costs_t costs               # all costs of a configuration at once; NULL: one by one
    # Like costs, but a cost above the minimum may be reported as minimum + 1. NULL: use costs.
    costs_t least_costs
    oracle_t oracles[MAX_ORACLES]  # NULL: the system has no such oracle


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


cdef int legal_moves(const SystemC* system, const StateC* s, CandidateC* out) noexcept nogil
cdef bint walk_to_end(
    const SystemC* system, StateC* s, step_t step, void* walker
) noexcept nogil
cdef int formula_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int move, int k, int label,
    int push_label
) noexcept nogil
cdef void cost_each(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil
cdef int apply_oracle(
    const SystemC* system, const StateC* s, const GoldC* gold, int oracle, int push_label,
    bint exact, CandidateC* out
) noexcept nogil
cdef void learn_cheapest(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil
cpdef int new_move(str name, str colour=*, str glossary=*) except -1
cpdef int new_oracle(str name) except -1
cdef int no_arc(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef int max_candidates(const SystemC* system, int n) noexcept nogil


cdef inline bint label_fits(const SystemC* system, bint from_root, int label) noexcept nogil:
    """Whether an arc may take the label: root_label is for arcs from ROOT, and them alone."""
    return system.root_label == NONE or (label == system.root_label) == from_root


cdef class TransitionSystem:
    cdef SystemC c
    cdef readonly str name
    cdef readonly dict options
    cdef readonly tuple labels          # as given, or None: unlabelled
    cdef readonly tuple label_names     # labels, or (None,)
    cdef dict label_ids

    cdef dict repair_names      # name of a move -> its name as a repair, if that is another
    cdef dict features          # name of a move -> features that a scorer of it should look at

    cdef MoveC* add_move(
        self, int name, precondition_t precondition, effect_t effect, cost_t cost, rest_t rest,
        arc_end_t head=*, arc_end_t dependent=*, next_k_t next_k=*
    ) except NULL
    cdef int begin(self, str name, dict options) except -1
    cdef int bind(self, Gold gold) except -1
