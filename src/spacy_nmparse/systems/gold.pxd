"""The gold tree: heads, labels, sentence starts, and the tables derived from them once."""
from spacy_nmparse.systems.state cimport NONE


cdef struct SwapC:                   # what the swap system reads besides; see swap/gold.pyx
    const int* head                  # word -> gold head, or a head that it may have: n for ROOT
    const int* order                 # word -> its place in the projective order; ROOT: 0
    const int* component             # word -> the top of its maximal projective component
    const signed char* ends          # word -> 1: a gold sentence starts there; 2: one has to, if
    #                                  sentences have one root each; 0
    int* room                        # for plans, see swap/plan.pyx
    int* minimal                     # numbers of the SWAPs of MINIMAL among its moves, in order
    int n_minimal                    # how many; NONE: not searched yet
    bint proven                      # whether no derivation has fewer


cdef struct PlanesC:                 # what two_planar reads besides; see planes.pyx
    bint crossing                    # whether any arcs between words cross
    bint beyond                      # whether two planes do not hold all arcs
    const int* plane                 # word -> 1 or 2: where its arc belongs; 0: no arc crosses it
    # Room for the search of planes.pyx. open: word -> planes where its arc can still be built (a
    # sum of 1 and 2), or 0; cycle: word -> number of the cycle that its arc is on, or 0.
    int* open
    int* cycle
    int n_cycles
    int* colour
    int* parent
    int* queue
    int* near_
    int* found
    int* dropped
    int* kept
    int steps


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
    SwapC* swap                      # NULL until a swap system binds the tree
    PlanesC* planes                  # NULL until two_planar does
    CrossingC* crossing              # NULL: no arcs cross, or no system needs it
    int crossing_form                # of which systems' tables these are; 0: of none


cdef inline int first_child(const GoldC* gold, int head, int first) noexcept nogil:
    """Where in gold.children the dependents of head from word ``first`` on begin."""
    cdef int low = gold.child_offset[head]
    cdef int high = gold.child_offset[head + 1]
    cdef int middle
    while low < high:
        middle = (low + high) // 2
        if gold.children[middle] < first:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline int children_from(const GoldC* gold, int head, int first) noexcept nogil:
    """How many gold dependents of head have a number >= first."""
    return gold.child_offset[head + 1] - first_child(gold, head, first)


cdef inline int last_child(const GoldC* gold, int w) noexcept nogil:
    """The last gold dependent of w, or NONE."""
    cdef int end = gold.child_offset[w + 1]
    return gold.children[end - 1] if end > gold.child_offset[w] else NONE


cdef inline int far_end(const GoldC* gold, int w) noexcept nogil:
    """The last word that w has a gold arc with, or NONE."""
    cdef int g = gold.head[w]
    return max(last_child(gold, w), NONE if g == gold.n else g)


cdef class Gold:
    cdef GoldC c
    cdef void* block
    cdef int* label_ids
    cdef readonly tuple heads
    cdef readonly tuple labels
    cdef readonly tuple sent_starts
    cdef tuple bound_to

    cdef int bind(self, tuple label_names, dict label_ids) except -1
