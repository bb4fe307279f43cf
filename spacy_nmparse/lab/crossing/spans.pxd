"""A stretch of text in which gold arcs cross, and its tables, as leaving.pyx and growing.pyx see
them. A place is a word's number less that of the first word."""
from spacy_nmparse.systems.gold cimport GoldC, first_child
from spacy_nmparse.systems.structs cimport StateC, ViewC, loss_t


cdef enum:
    MAX_WORDS = 250      # of a stretch; in longer ones the loss stays a lower bound
    INFINITY = 1 << 20


cdef enum:   # gold head of a word where it is neither a word nor ROOT
    FREE = -1            # unknown: any head is right
    LOST = -2            # no arc can be right


# Errors in the i-th stack item when it leaves the stack with this word at the front, or ROOT: at
# the end of the sentence; NONE: a word that is not its gold head.
ctypedef int (*leave_t)(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int front
) noexcept nogil
ctypedef ViewC (*view_t)(const StateC* s) noexcept nogil


cdef struct FormC:       # what must be known of a system
    leave_t leave        # NULL: one tree grows at the top of the stack, see growing.pyx
    bint root_first      # with leave: ROOT is at the bottom of the stack
    view_t view          # of a configuration
    loss_t loss          # a lower bound, of which SystemC.rest counts the errors to come


cdef struct CrossingC:   # what is lost where arcs cross
    const FormC* form    # for these systems
    bint segment
    bint single_root
    int* head            # word -> gold head, FREE or LOST
    int* first           # word -> the first word of its stretch
    int* size            # word -> how many words that has; 0: no arcs cross in it
    int* table           # word -> where in tables those of its stretch begin
    int* behind          # word -> errors from it on, when a sentence starts there
    int* room            # for growing.pyx: words times the longest stretch's words + 3
    short* tables


cdef struct SpanC:
    const FormC* form
    int first            # its first word
    int size             # how many words it has
    const int* head      # word (not place) -> gold head, FREE or LOST
    short* tables        # four, of size + 1 rows
    int* room            # (size + 3) times the words of the gold tree
    signed char[MAX_WORDS + 1] may_end   # place -> whether the sentence may end before it


cdef inline short* row(const SpanC* span, int table, int i) noexcept nogil:
    return span.tables + (table * (span.size + 1) + i) * (span.size + 1)


cdef inline bint fits(const SpanC* span, int w, int head) noexcept nogil:
    """Whether the arc from this head (a word or ROOT) is no error in word w."""
    return span.head[w] == head or span.head[w] == FREE


cdef inline int least_sum(const short* a, const int* b, int first, int end) noexcept nogil:
    cdef int least = INFINITY
    cdef int i
    for i in range(first, end):
        least = min(least, a[i] + b[i])
    return least


cdef inline int find_children(
    const GoldC* gold, const SpanC* span, int b, int head, int* children
) noexcept nogil:
    """The places of the gold dependents of a word or ROOT from place b on. Returns their number."""
    cdef int found = 0
    cdef int c, k
    for c in range(first_child(gold, head, span.first + b), gold.child_offset[head + 1]):
        k = gold.children[c] - span.first
        if k >= span.size:
            break
        if span.head[span.first + k] == head:
            children[found] = k
            found += 1
    return found
