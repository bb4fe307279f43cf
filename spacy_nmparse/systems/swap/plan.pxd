"""Plans for what is left of a sentence: a tree, a projective order, and the EAGER walk to it."""
from spacy_nmparse.systems.gold cimport GoldC, tables_of
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport SystemC


cdef enum:
    STAY = -1          # "no move", where a plan takes the name of one
    N_PLAN_ARRAYS = 13


cdef struct SwapC:     # what the swap system reads from a gold tree besides
    const int* head    # word -> gold head, or a head that it may have: n for ROOT
    const int* order   # word -> its place in the projective order; ROOT: 0
    const signed char* ends  # word -> 1: a gold sentence starts there; 2: one has to, if sentences
    #                    have one root each; 0
    int* room          # for plans


cdef struct PlanC:     # arrays over words and ROOT, in the room of the gold tree
    int n              # ROOT's number
    int size           # items: ROOT, the other stack words, the words waiting in the buffer
    int n_stack        # that many of them are on the stack
    int unread         # place of the first one that has never been on the stack
    int end            # where the sentence is taken to end
    bint complete      # whether all items have a head
    bint steady        # whether, from each configuration on the walk, the plan is the same
    bint strict        # a walk ends with 1 where it gets stuck
    int asked          # which move of the walk, or of the derivation that improve finds, is wanted
    int n_moves        # moves made
    int move           # the wanted one; NONE: it does not come so far
    int* seq           # place -> item, bottom of the stack first
    int* place         # item -> place (look with has_item)
    int* head          # item -> the head it is to get
    int* wanted        # item -> 1: that is its gold head; 0: any other would do
    int* order         # item -> its place in the projective order of seq; ROOT: 0
    int* pending       # item -> wanted dependents that it has not got yet
    int* stack         # the walk's stack
    int* waiting       # the walk's rebuffer
    int* block_start   # place -> where its blocks begin in blocks
    int* blocks        # items: at each place the dependents of the item there, and itself
    int* low           # item -> first place in its gold subtree
    int* high          # item -> last place


cdef inline bint has_item(const PlanC* p, int w) noexcept nogil:
    cdef int i = p.place[w]
    return 0 <= i < p.size and p.seq[i] == w


cdef void make_room(const SwapC* tables, int n, PlanC* p) noexcept nogil


cdef inline SwapC* swap_tables(const GoldC* gold) noexcept nogil:
    return <SwapC*>tables_of(gold, <const void*>make_room)


cdef inline bint gold_ends(const SystemC* system, const GoldC* gold, int w) noexcept nogil:
    """Whether the static oracles make a sentence start at w."""
    cdef int end = swap_tables(gold).ends[w]
    return end == 1 or (end == 2 and system.single_root)


cdef void load(const StateC* s, const GoldC* gold, int move, bint static_, PlanC* p) noexcept nogil
cdef int make_tree(const SystemC* system, const GoldC* gold, bint one_root, PlanC* p) noexcept nogil
cdef void make_order(PlanC* p) noexcept nogil
cdef int follow(
    const SystemC* system, PlanC* p, const int* head, const int* order, const int* wanted
) noexcept nogil
cdef int improve(
    const SystemC* system, const GoldC* gold, PlanC* p, int least, int lost
) noexcept nogil
