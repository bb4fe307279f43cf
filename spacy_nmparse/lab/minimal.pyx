"""The oracle ``minimal`` of swap_standard: a derivation with the fewest SWAPs (BN15, section 4)."""
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

from spacy_nmparse.lab.bn15 cimport check_swap, components_of, learn_lazy
from spacy_nmparse.systems.gold cimport Gold, GoldC, TablesC, new_tables, tables_of
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.names cimport new_oracle
from spacy_nmparse.systems.state cimport NONE, B, StateC
from spacy_nmparse.systems.static cimport learn_first_cheapest
from spacy_nmparse.systems.swap.gold cimport derive_swap
from spacy_nmparse.systems.swap.plan cimport STAY, PlanC, SwapC, follow, make_room, swap_tables
from spacy_nmparse.systems.swap.swap cimport eager_move, leads_home, learn_moves
from spacy_nmparse.systems.table cimport (
    SHIFT,
    SWAP,
    CandidateC,
    SystemC,
    MoveTable,
)


cdef enum:
    MAX_STEPS = 2000000    # of the search for the fewest SWAPs, in one sentence
    N_SEEN = 1 << 14       # configurations that it remembers


cdef struct SeenC:
    unsigned long long name   # of a configuration, or 0
    int swaps


cdef struct MinimalC:         # of a gold tree
    const int* steps          # which moves of the derivation are SWAPs, in order
    int n                     # how many they are
    bint proven               # whether no derivation has fewer


cdef struct SearchC:
    const SwapC* tables
    const int* component      # word -> the top of its maximal projective component
    SystemC system            # no options
    PlanC p                   # of the configurations whose SHIFT is tried
    int end                   # of the sentence
    int b                     # next unread word
    int n_stack
    int n_waiting
    int n_swaps
    int n_steps               # transitions to here
    int* stack
    int* waiting
    int* pending
    int* steps                # n_steps -> what was done there (see do_step)
    int n_room                # of steps
    int best                  # fewest SWAPs so far
    int* best_steps           # the steps that are SWAPs
    int n_forks
    int* forks                # steps where SWAP was taken and SHIFT may be, or the other way round
    SeenC* seen


# Depth-first search for the derivation with the fewest SWAPs. Arcs are made at once; where
# EAGER would SWAP, SHIFT is tried, too, if the tree can still be derived then.

cdef enum:   # kinds of step: the last bits of a number that has the popped word before them
    DO_SHIFT       # off the words put back
    DO_READ
    DO_SWAP
    DO_LEFT
    DO_RIGHT
    STEP_BITS = 3


cdef inline void do_step(SearchC* c, int kind) noexcept nogil:
    cdef int w = 0
    cdef int s0 = c.stack[c.n_stack - 1]
    if kind == DO_SHIFT:
        c.n_waiting -= 1
        c.stack[c.n_stack] = c.waiting[c.n_waiting]
        c.n_stack += 1
    elif kind == DO_READ:
        c.stack[c.n_stack] = c.b
        c.n_stack += 1
        c.b += 1
    else:
        c.n_stack -= 1
        if kind == DO_RIGHT:
            w = s0
        else:
            w = c.stack[c.n_stack - 1]
            c.stack[c.n_stack - 1] = s0
        if kind == DO_SWAP:
            c.waiting[c.n_waiting] = w
            c.n_waiting += 1
            c.n_swaps += 1
        else:
            c.pending[c.tables.head[w]] -= 1
    c.steps[c.n_steps] = (w << STEP_BITS) | kind
    c.n_steps += 1


cdef inline void undo_step(SearchC* c) noexcept nogil:
    cdef int kind, w
    c.n_steps -= 1
    kind = c.steps[c.n_steps] & ((1 << STEP_BITS) - 1)
    w = c.steps[c.n_steps] >> STEP_BITS
    if kind == DO_SHIFT:
        c.n_stack -= 1
        c.waiting[c.n_waiting] = c.stack[c.n_stack]
        c.n_waiting += 1
    elif kind == DO_READ:
        c.n_stack -= 1
        c.b -= 1
    else:
        if kind == DO_RIGHT:
            c.stack[c.n_stack] = w
        else:
            c.stack[c.n_stack] = c.stack[c.n_stack - 1]
            c.stack[c.n_stack - 1] = w
        c.n_stack += 1
        if kind == DO_SWAP:
            c.n_waiting -= 1
            c.n_swaps -= 1
        else:
            c.pending[c.tables.head[w]] += 1


cdef inline int next_buffer(const SearchC* c) noexcept nogil:
    """B0, or NONE."""
    if c.n_waiting:
        return c.waiting[c.n_waiting - 1]
    return c.b if c.b < c.end else NONE


cdef int eager_step(const SearchC* c) noexcept nogil:
    """EAGER's next move, or NONE at the end."""
    cdef const SwapC* t = c.tables
    cdef int n = c.p.n
    cdef int s0 = c.stack[c.n_stack - 1]
    cdef int s1
    if c.n_stack > 1:
        s1 = c.stack[c.n_stack - 2]
        if s1 != n and t.head[s1] == s0 and c.pending[s1] == 0:
            return DO_LEFT
        if t.head[s0] == s1 and c.pending[s0] == 0:
            return DO_RIGHT
        if s1 != n and t.order[s0] < t.order[s1]:
            return DO_SWAP
    if c.n_waiting:
        return DO_SHIFT
    return DO_READ if c.b < c.end else NONE


cdef bint shift_is_safe(SearchC* c) noexcept nogil:
    """Algorithm 2: whether the tree can be derived after a SHIFT."""
    cdef PlanC* p = &c.p
    cdef int m = c.n_stack
    cdef int b = c.b
    cdef int i
    if next_buffer(c) == NONE:
        return False
    for i in range(m):
        p.seq[i] = c.stack[i]
    p.seq[m] = next_buffer(c)
    m += 1
    p.n_stack = m
    for i in range(c.n_waiting - 2, -1, -1):
        p.seq[m] = c.waiting[i]
        m += 1
    b += c.n_waiting == 0
    p.unread = m
    for i in range(b, c.end):
        p.seq[m] = i
        m += 1
    p.size = m
    return follow(&c.system, p, c.tables.head, c.tables.order, NULL) == 0


cdef inline unsigned long long mixed(unsigned long long name, int w) noexcept nogil:
    name = (name ^ <unsigned long long>(w + 2)) * <unsigned long long>0x9E3779B97F4A7C15
    return name ^ (name >> 29)


cdef bint seen_better(SearchC* c) noexcept nogil:
    """Whether the search has been here with no more SWAPs; remembers that it has been now."""
    cdef unsigned long long name = mixed(0, c.b)
    cdef SeenC* seen
    cdef int i
    for i in range(c.n_stack):
        name = mixed(name, c.stack[i])
    name = mixed(name, NONE)
    for i in range(c.n_waiting):
        name = mixed(name, c.waiting[i])
    seen = &c.seen[name % N_SEEN]
    if seen.name == name and seen.swaps <= c.n_swaps:
        return True
    seen.name = name
    seen.swaps = c.n_swaps
    return False


cdef bint more_room(SearchC* c) noexcept nogil:
    """Make room for one more step. False: no memory."""
    cdef int size = max(64, 2 * c.n_room)
    cdef void* block
    if c.n_steps < c.n_room:
        return True
    block = realloc(c.steps, size * sizeof(int))
    if block == NULL:
        return False
    c.steps = <int*>block
    block = realloc(c.forks, size * sizeof(int))
    if block == NULL:
        return False
    c.forks = <int*>block
    block = realloc(c.best_steps, size * sizeof(int))
    if block == NULL:
        return False
    c.best_steps = <int*>block
    c.n_room = size
    return True


cdef void begin_sentence(SearchC* c, int first, int end) noexcept nogil:
    cdef int w
    for w in range(first, end):
        c.pending[w] = 0
    for w in range(first, end):
        c.pending[c.tables.head[w]] += 1
    c.stack[0] = c.p.n
    c.n_stack = 1
    c.n_waiting = 0
    c.n_swaps = 0
    c.n_steps = 0
    c.b = first
    c.end = end


cdef inline bint in_one_component(const SearchC* c) noexcept nogil:
    """Whether S0 and B0 are in one maximal projective component: there LAZY puts SWAP off."""
    cdef int b0 = next_buffer(c)
    return b0 != NONE and c.component[c.stack[c.n_stack - 1]] == c.component[b0]


cdef int search_sentence(SearchC* c, int first, int end, int steps_left) noexcept nogil:
    """Find the fewest SWAPs of the sentence. Returns the steps left; NONE: it was cut off;
    NONE - 1: no memory."""
    cdef int kind, other, i, w
    cdef bint back
    memset(c.seen, 0, N_SEEN * sizeof(SeenC))
    begin_sentence(c, first, end)
    c.n_forks = 0
    c.best = 1 << 30
    while True:
        if not more_room(c):
            return NONE - 1
        steps_left -= 1
        if steps_left < 0 and c.best < 1 << 30:
            return NONE
        kind = eager_step(c)
        back = False
        if kind == NONE:
            c.best = c.n_swaps
            w = 0
            for i in range(c.n_steps):
                if c.steps[i] & ((1 << STEP_BITS) - 1) == DO_SWAP:
                    c.best_steps[w] = i
                    w += 1
            back = True
        elif kind == DO_SWAP:
            # A SWAP is due, now or later.
            if c.n_swaps + 1 >= c.best or seen_better(c):
                back = True
            elif shift_is_safe(c):
                other = DO_SHIFT if c.n_waiting else DO_READ
                if in_one_component(c):
                    kind, other = other, kind  # as LAZY does
                c.forks[c.n_forks] = (c.n_steps << STEP_BITS) | other
                c.n_forks += 1
        if not back:
            do_step(c, kind)
            continue
        while True:
            if c.n_forks == 0:
                return max(0, steps_left)
            c.n_forks -= 1
            other = c.forks[c.n_forks]
            while c.n_steps > other >> STEP_BITS:
                undo_step(c)
            if c.n_swaps + 1 < c.best:
                do_step(c, other & ((1 << STEP_BITS) - 1))
                break


cdef int search_sentences(const GoldC* gold, SearchC* c, MinimalC* found) noexcept nogil:
    """Fill the tables with the SWAPs of all sentences. Returns 0, or -1 without memory."""
    cdef const SwapC* t = swap_tables(gold)
    cdef int n = gold.n
    cdef int first = 0
    cdef int end, i, left
    cdef bint crossing
    cdef void* block
    found.proven = True
    while first < n:
        crossing = False
        end = first + 1
        while end < n and not t.ends[end]:
            crossing = crossing or t.order[end] < t.order[end - 1]
            end += 1
        if crossing:
            left = search_sentence(c, first, end, MAX_STEPS)
            if left == NONE - 1:
                return -1
            found.proven = found.proven and left >= 0
            block = realloc(<void*>found.steps, (found.n + c.best) * sizeof(int))
            if block == NULL:
                return -1
            found.steps = <int*>block
            for i in range(c.best):
                (<int*>block)[found.n + i] = 2 * (first + found.n) + c.best_steps[i]
            found.n += c.best
        first = end
    return 0


cdef bint search_begin(const GoldC* gold, SearchC* c) noexcept nogil:
    """Room for searches through a gold tree. False: there is no memory."""
    cdef size_t size = gold.n + 2
    memset(c, 0, sizeof(SearchC))
    c.tables = swap_tables(gold)
    c.component = components_of(gold)
    make_room(c.tables, gold.n, &c.p)
    c.stack = <int*>malloc(3 * size * sizeof(int))
    c.seen = <SeenC*>malloc(N_SEEN * sizeof(SeenC))
    if c.component == NULL or c.stack == NULL or c.seen == NULL:
        return False
    c.waiting = c.stack + size
    c.pending = c.stack + 2 * size
    c.pending[gold.n] = 0
    return True


cdef void search_end(SearchC* c) noexcept nogil:
    free(c.stack)
    free(c.seen)
    free(c.steps)
    free(c.forks)
    free(c.best_steps)


cdef const MinimalC* minimal_of(const GoldC* gold) noexcept nogil:
    """The tables of the tree, made when they are asked for first; NULL: there is no memory."""
    cdef const MinimalC* known = <const MinimalC*>tables_of(gold, <const void*>minimal_of)
    cdef MinimalC made
    cdef MinimalC* found = NULL
    cdef SearchC c
    if known != NULL:
        return known
    memset(&made, 0, sizeof(MinimalC))
    if search_begin(gold, &c) and search_sentences(gold, &c, &made) == 0:
        with gil:
            try:
                found = <MinimalC*>new_tables(
                    <GoldC*>gold, <const void*>minimal_of, sizeof(MinimalC)
                )
            except MemoryError:
                pass
    search_end(&c)
    if found == NULL:
        free(<void*>made.steps)
    else:
        (<TablesC*>found - 1).more = <void*>made.steps
        found[0] = made
    return found


# The oracle.

cdef inline int step_of(int n_swaps, int b, int n_waiting, int n_stack) noexcept nogil:
    """How many moves, BREAKs aside, lead to a configuration."""
    return 2 * (b + n_swaps - n_waiting) - n_stack + 1


cdef bint swaps_at(const MinimalC* minimal, int step) noexcept nogil:
    """Whether the derivation has a SWAP after so many moves."""
    cdef int low = 0
    cdef int high = minimal.n
    cdef int middle
    while low < high:
        middle = (low + high) // 2
        if minimal.steps[middle] < step:
            low = middle + 1
        else:
            high = middle
    return low < minimal.n and minimal.steps[low] == step


cdef void learn_minimal(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """EAGER, but SHIFT for SWAP except where a derivation with the fewest SWAPs has one (while that
    leads to the tree). The derivation is searched for once."""
    cdef const MinimalC* minimal = minimal_of(gold)
    cdef int move
    if minimal == NULL:
        learn_lazy(s, gold, push_label, candidates, n)
        return
    if not leads_home(s, gold, STAY):
        learn_first_cheapest(candidates, n)
        return
    move = eager_move(s, gold)
    if move == SWAP and not swaps_at(
        minimal, step_of(s.n_swaps, s.b, s.n_rebuffer, s.n_stack)
    ) and B(s, 0) != NONE and leads_home(s, gold, SHIFT):
        move = SHIFT
    learn_moves(s, move, False, candidates, n)


def add_minimal(MoveTable system not None):
    """Give swap_standard the oracle ``minimal``."""
    check_swap(system)
    system.c.oracles[new_oracle("minimal", True)] = learn_minimal


cdef int count_sentence(SearchC* c, bint lazy) noexcept nogil:
    """How many SWAPs EAGER makes in the sentence that was begun, or LAZY; NONE: no memory."""
    cdef int kind = eager_step(c)
    while kind != NONE:
        if not more_room(c):
            return NONE
        if lazy and kind == DO_SWAP and in_one_component(c) and shift_is_safe(c):
            kind = DO_SHIFT if c.n_waiting else DO_READ
        do_step(c, kind)
        kind = eager_step(c)
    return c.n_swaps


def n_swaps(Gold gold not None, bint lazy):
    """How many SWAPs the oracle ``eager``, or ``lazy``, makes on the way to a tree (int). They are
    counted without costs, so that long sentences take little time."""
    derive_swap(&gold.c, NULL)
    cdef SearchC c
    cdef size_t size = gold.c.n + 2
    cdef int first = 0
    cdef int total = 0
    cdef int end, found
    memset(&c, 0, sizeof(SearchC))
    c.tables = swap_tables(&gold.c)
    c.component = components_of(&gold.c)
    if c.component == NULL:
        raise MemoryError(f"No memory to count the SWAPs of {gold.c.n} words.")
    make_room(c.tables, gold.c.n, &c.p)
    c.stack = <int*>allocate(3 * size, sizeof(int))
    c.waiting = c.stack + size
    c.pending = c.stack + 2 * size
    try:
        while first < gold.c.n:
            end = first + 1
            while end < gold.c.n and not c.tables.ends[end]:
                end += 1
            begin_sentence(&c, first, end)
            found = count_sentence(&c, lazy)
            if found == NONE:
                raise MemoryError(f"No memory to count the SWAPs of {gold.c.n} words.")
            total += found
            first = end
    finally:
        free(c.stack)
        free(c.steps)
        free(c.forks)
        free(c.best_steps)
    return total


def projective_order(Gold gold not None):
    """The words in projective order (list of int): no arc of the tree crosses when they stand so.

    Heads that are not known are made up.
    """
    derive_swap(&gold.c, NULL)
    return sorted(range(gold.c.n), key=lambda w: swap_tables(&gold.c).order[w])


def components(Gold gold not None):
    """For each word the top of its maximal projective component (``systems.ROOT``: ROOT's)."""
    derive_swap(&gold.c, NULL)
    cdef const int* component = components_of(&gold.c)
    if component == NULL:
        raise MemoryError(f"No memory for the components of {gold.c.n} words.")
    return [component[w] if component[w] != gold.c.n else -1 for w in range(gold.c.n)]


def fewest_swaps(Gold gold not None):
    """(number of SWAPs of the oracle ``minimal``, whether it is proven that no derivation within
    the projective order has fewer). Not proven: the search was cut off."""
    cdef const MinimalC* minimal
    derive_swap(&gold.c, NULL)
    minimal = minimal_of(&gold.c)
    if minimal == NULL:
        raise MemoryError(f"No memory to look for the fewest SWAPs of {gold.c.n} words.")
    return minimal.n, bool(minimal.proven)
