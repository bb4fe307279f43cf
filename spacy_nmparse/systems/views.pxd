"""A configuration of a stack system, as the difference from a StateC."""
from spacy_nmparse.systems.structs cimport NONE, StateC, ViewC


cdef inline ViewC view(const StateC* s) noexcept nogil:
    """The configuration itself."""
    cdef ViewC v
    v.below = s.n_stack
    v.top = NONE
    v.headed = False
    v.label = NONE
    v.b = s.b
    v.has_left = s.b < s.n and s.n_left[s.b] > 0
    v.closed = s.end < s.n
    return v


cdef inline void push_in_view(const StateC* s, ViewC* v, bint headed) noexcept nogil:
    """Let the next unread word be on the stack, with a head beneath it or without."""
    v.top = v.b
    v.headed = headed
    v.has_left = False
    v.b += 1


cdef inline int height(const ViewC* v) noexcept nogil:
    return v.below + (v.top != NONE)


cdef inline int stack_item(const StateC* s, const ViewC* v, int i) noexcept nogil:
    """The i-th item of the stack from its bottom."""
    return s.stack[i] if i < v.below else v.top


cdef inline int place(const StateC* s, const ViewC* v, int w) noexcept nogil:
    """Where word w is on the stack, or NONE."""
    if w == v.top:
        return v.below
    return s.position[w] if s.position[w] < v.below else NONE


cdef inline bint is_headed(const StateC* s, const ViewC* v, int i) noexcept nogil:
    """Whether the i-th stack item has a head."""
    return s.head[s.stack[i]] != NONE if i < v.below else v.headed


cdef inline bint is_fresh(const StateC* s, const ViewC* v) noexcept nogil:
    """Whether nothing has been done in the sentence."""
    return v.b == s.start and not v.has_left
