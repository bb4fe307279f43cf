"""The configuration of every transition system; see state.pxd."""
from libc.string cimport memcmp, memcpy, memset


cdef enum:  # arrays of n + 1 numbers in the block of a state, in this order
    N_SHARED = 12       # rebuffer .. n_right; behind them, sentence_start and constraint
    N_MORE = MAX_OWN + 1    # own, entry


cdef inline size_t shared_size(int n) noexcept nogil:
    """Numbers in what every system has."""
    return N_SHARED * (<size_t>n + 1) + (2 * (<size_t>n + 1) + sizeof(int) - 1) // sizeof(int)


cdef size_t state_block_size(int n) noexcept nogil:
    """Bytes that a state over n words needs behind its header."""
    return (shared_size(n) + N_MORE * (<size_t>n + 1)) * sizeof(int)


cdef void set_pointers(StateC* s, void* block, int n) noexcept nogil:
    cdef size_t size = <size_t>n + 1
    cdef int* ints = <int*>block
    s.rebuffer = ints
    s.stack = ints + size
    s.position = ints + 2 * size
    s.head = ints + 3 * size
    s.label = ints + 4 * size
    s.push_label = ints + 5 * size
    s.left_child = ints + 6 * size
    s.right_child = ints + 7 * size
    s.inward = ints + 8 * size
    s.outward = ints + 9 * size
    s.n_left = ints + 10 * size
    s.n_right = ints + 11 * size
    s.sentence_start = <signed char*>(ints + N_SHARED * size)
    s.constraint = s.sentence_start + size
    s.own = ints + shared_size(n)
    s.entry = s.own + MAX_OWN * size


cdef void state_init(StateC* s, void* block, int n) noexcept nogil:
    """Make s an empty configuration over n words, in a block of ``state_block_size(n)`` bytes."""
    cdef size_t size = <size_t>n + 1
    memset(s, 0, sizeof(StateC))
    set_pointers(s, block, n)
    s.n = n
    s.end = n
    s.last_root_child = NONE
    memset(s.numbers, 0xFF, sizeof(s.numbers))
    memset(block, 0xFF, 10 * size * sizeof(int))  # rebuffer .. outward: NONE
    memset(s.n_left, 0, 2 * size * sizeof(int) + 2 * size)
    memset(s.own, 0xFF, MAX_OWN * size * sizeof(int))
    memset(s.entry, 0, size * sizeof(int))


cdef void state_copy(StateC* target, void* block, const StateC* source) noexcept nogil:
    """Copy source, over a block of the same size: what every system has, and what the system has
    declared besides."""
    cdef size_t size = <size_t>source.n + 1
    memcpy(target, source, sizeof(StateC))
    set_pointers(target, block, source.n)
    memcpy(block, source.rebuffer, (shared_size(source.n) + source.n_own * size) * sizeof(int))


cdef void state_add_arc(StateC* s, int head, int dependent, int label) noexcept nogil:
    """Add the arc head -> dependent (dependent must be headless); siblings stay in text order."""
    cdef int* outermost
    cdef int near_, far
    s.head[dependent] = head
    s.label[dependent] = label
    if dependent < head:
        outermost = &s.left_child[head]
        s.n_left[head] += 1
    else:
        outermost = &s.right_child[head]
        s.n_right[head] += 1
    if head == s.n:
        # Walk outwards: ROOT has a dependent in every sentence before.
        near_ = NONE
        far = s.last_root_child
        while far != NONE and far > dependent:
            near_ = far
            far = s.outward[far]
        if near_ == NONE:
            s.last_root_child = dependent
    else:
        # Walk inwards past the siblings that lie further out: none, in stack systems.
        far = NONE
        near_ = outermost[0]
        while near_ != NONE and (near_ < dependent if dependent < head else near_ > dependent):
            far = near_
            near_ = s.inward[near_]
    s.inward[dependent] = near_
    s.outward[dependent] = far
    if near_ != NONE:
        s.outward[near_] = dependent
    if far == NONE:
        outermost[0] = dependent
    else:
        s.inward[far] = dependent


cdef void state_del_arc(StateC* s, int dependent) noexcept nogil:
    """Delete the arc into dependent, if there is one."""
    cdef int head = s.head[dependent]
    cdef int near_, far
    if head == NONE:
        return
    near_ = s.inward[dependent]
    far = s.outward[dependent]
    if near_ != NONE:
        s.outward[near_] = far
    elif head == s.n:
        s.last_root_child = far
    if far != NONE:
        s.inward[far] = near_
    elif dependent < head:
        s.left_child[head] = near_
    else:
        s.right_child[head] = near_
    if dependent < head:
        s.n_left[head] -= 1
    else:
        s.n_right[head] -= 1
    s.head[dependent] = NONE
    s.label[dependent] = NONE
    s.inward[dependent] = NONE
    s.outward[dependent] = NONE


cdef bint state_is_final(const StateC* s) noexcept nogil:
    """Whether everything is read, and ROOT alone, if anything, is on the stack."""
    return (
        s.n_rebuffer == 0 and s.b == s.end and not s.root_last and s.end == s.n and s.n_stack <= 1
        and (s.n_stack == 0 or s.stack[0] == s.n)
    )


cdef bint words_alike(const StateC* a, const StateC* b, int first) noexcept nogil:
    """Whether two configurations do not differ in stack, buffer, starts and arcs from word
    ``first`` on."""
    cdef size_t size = (a.n - first) * sizeof(int)
    return (
        a.start == b.start and a.end == b.end and a.b == b.b and a.root_last == b.root_last
        and a.n_stack == b.n_stack and a.n_rebuffer == b.n_rebuffer
        and memcmp(a.stack, b.stack, a.n_stack * sizeof(int)) == 0
        and memcmp(a.rebuffer, b.rebuffer, a.n_rebuffer * sizeof(int)) == 0
        and memcmp(a.head + first, b.head + first, size) == 0
        and memcmp(a.label + first, b.label + first, size) == 0
        and memcmp(a.push_label + first, b.push_label + first, size) == 0
        and memcmp(a.sentence_start + first, b.sentence_start + first, a.n - first) == 0
    )


cdef bint state_alike(const StateC* a, const StateC* b, int first) noexcept nogil:
    """Whether two configurations do not differ in anything from word ``first`` on."""
    return (
        words_alike(a, b, first) and memcmp(a.numbers, b.numbers, sizeof(a.numbers)) == 0
        and memcmp(a.own, b.own, a.n_own * (<size_t>a.n + 1) * sizeof(int)) == 0
    )
