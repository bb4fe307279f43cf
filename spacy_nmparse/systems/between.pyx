# Nothing of this module can be imported from Python; see between.pxd.
"""Between two words: the arcs that an arc of theirs would cross, and headless words."""
from spacy_nmparse.systems.structs cimport NONE


cdef int n_crossed(const StateC* s, int a, int b) noexcept nogil:
    """Words between a and b with an arc that one of a and b would cross, as far as counts tell them
    apart."""
    cdef int first = min(a, b)
    cdef int last = max(a, b)
    cdef int w, head
    cdef int n = 0
    if last == s.n:  # arcs from ROOT cross none
        return 0
    for w in range(first + 1, last):
        head = s.head[w]
        n += (
            (head != NONE and (head < first or head > last))
            or (s.left_child[w] != NONE and s.left_child[w] < first)
            or s.right_child[w] > last
        )
        if n == COUNT_VALUES - 1:
            break
    return n


cdef int n_headless_between(const StateC* s, int a, int b) noexcept nogil:
    """Words between a and b without a head, as far as counts tell them apart."""
    cdef int w
    cdef int n = 0
    if max(a, b) == s.n:
        return 0
    for w in range(min(a, b) + 1, max(a, b)):
        n += s.head[w] == NONE
        if n == COUNT_VALUES - 1:
            break
    return n
