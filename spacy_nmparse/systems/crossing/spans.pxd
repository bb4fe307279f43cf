"""A stretch of text in which gold arcs cross, and its tables, as leaving.pyx and growing.pyx see
them. A place is a word's number less that of the first word."""
from spacy_nmparse.systems.gold cimport GoldC, first_child


cdef enum:
    MAX_WORDS = 250      # of a stretch; in longer ones the loss stays a lower bound
    INFINITY = 1 << 20


cdef enum:   # gold head of a word where it is neither a word nor ROOT
    FREE = -1            # unknown: any head is right
    LOST = -2            # no arc can be right


cdef struct SpanC:
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
