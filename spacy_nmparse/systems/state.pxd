"""The configuration of every transition system: stack, buffer, arcs, and what a system adds.

The primitive edits below allocate nothing and need no GIL.
"""
from libc.stddef cimport size_t

from spacy_nmparse.systems.structs cimport MAX_OWN, NONE, UNKNOWN_LABEL, StateC, SystemC


cdef size_t state_block_size(int n) noexcept nogil
cdef void state_init(StateC* s, void* block, int n) noexcept nogil
cdef void state_copy(StateC* target, void* block, const StateC* source) noexcept nogil
cdef void state_add_arc(StateC* s, int head, int dependent, int label) noexcept nogil
cdef void state_del_arc(StateC* s, int dependent) noexcept nogil


cdef bint state_is_final(const StateC* s) noexcept nogil
cdef bint words_alike(const StateC* a, const StateC* b, int first) noexcept nogil
cdef bint state_alike(const StateC* a, const StateC* b, int first) noexcept nogil


cdef inline int S(const StateC* s, int i) noexcept nogil:
    """The i-th stack item from the top, or NONE."""
    return s.stack[s.n_stack - 1 - i] if i < s.n_stack else NONE


cdef inline int B(const StateC* s, int i) noexcept nogil:
    """The i-th buffer item (ROOT is n), or NONE."""
    if i < s.n_rebuffer:
        return s.rebuffer[s.n_rebuffer - 1 - i]
    i += s.b - s.n_rebuffer
    if i < s.end:
        return i
    if i == s.end and s.root_last:
        return s.n
    return NONE


cdef inline int* own_array(const StateC* s, int i) noexcept nogil:
    """The i-th array of the system's own."""
    return s.own + i * (<size_t>s.n + 1)


cdef inline int n_buffer(const StateC* s) noexcept nogil:
    return s.n_rebuffer + (s.end - s.b) + s.root_last


cdef inline bint in_buffer(const StateC* s, int w) noexcept nogil:
    """Whether word or ROOT ``w`` waits in the buffer of the current sentence."""
    cdef int i
    if w == s.n:
        return s.root_last
    if w >= s.b:
        return w < s.end
    for i in range(s.n_rebuffer):
        if s.rebuffer[i] == w:
            return True
    return False


cdef inline bint is_above(const StateC* s, int w, int below) noexcept nogil:
    """Whether w is an ancestor of the word ``below``, or that word: w ->* below."""
    while below != NONE and below != s.n:
        if below == w:
            return True
        below = s.head[below]
    return False


cdef inline void push(StateC* s, int w) noexcept nogil:
    s.position[w] = s.n_stack
    s.stack[s.n_stack] = w
    s.n_stack += 1


cdef inline int pop(StateC* s) noexcept nogil:
    cdef int w
    s.n_stack -= 1
    w = s.stack[s.n_stack]
    s.position[w] = NONE
    return w


cdef inline int read(StateC* s) noexcept nogil:
    """Take the first item off the buffer."""
    cdef int w
    if s.n_rebuffer:
        s.n_rebuffer -= 1
        return s.rebuffer[s.n_rebuffer]
    if s.b < s.end:
        w = s.b
        s.b += 1
        return w
    s.root_last = 0
    return s.n


cdef inline int root_child(const StateC* s) noexcept nogil:
    """The child of ROOT in the current sentence, the last one if there are several, or NONE."""
    return s.last_root_child if s.last_root_child >= s.start else NONE
