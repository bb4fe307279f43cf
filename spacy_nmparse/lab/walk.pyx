"""Random walks through a transition system, with everything checked that must hold on the way.

For trying a system out on far more configurations than exhaustive search can visit, in one build
or another; tests/fuzz.py does. ``check_state`` tells what must hold of every configuration of every
system.
"""
from libc.stdint cimport uint64_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memset

from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.headless cimport N_SETS, treetop
from spacy_nmparse.systems.memory cimport allocate
from spacy_nmparse.systems.state cimport NONE, StateC, state_block_size, state_copy
from spacy_nmparse.systems.table cimport (
    LEARN_LABEL,
    LEARN_NOT,
    MAX_MOVES,
    CandidateC,
    SystemC,
    MoveTable,
    apply_oracle,
    label_fits,
    legal_moves,
    max_candidates,
    walk_to_end,
)

# What can be wrong.
cdef const char* SOUND = NULL
cdef const char* SIZES = "a count is out of bounds"
cdef const char* STACK = "the stack and the places of its items disagree, or an item is there twice"
cdef const char* REBUFFER = "the words put back into the buffer are not such, or are there twice"
cdef const char* HEADS = "a head is no word, or is the word itself"
cdef const char* LABELS = "a label is none of the system's, or stands where there is no head"
cdef const char* KIDS = "the lists of dependents disagree with the heads"
cdef const char* CYCLE = "the heads form a cycle"
cdef const char* SETS = "the union-find sets disagree with the trees"
cdef const char* CROSSED_START = "an arc crosses a sentence start that was made"
cdef const char* PRESET_START = "a preset sentence start was not heeded"
cdef const char* NO_MOVE = "no move is legal, and the configuration is not final"
cdef const char* TOO_MANY_MOVES = "there are more legal moves than max_candidates says"
cdef const char* BAD_MOVE = (
    "a legal move has a k, a head or a dependent that cannot be, or is there twice"
)
cdef const char* BAD_COST = (
    "a cost is beyond all bounds, or is higher with the label that costs least than with others"
)
cdef const char* NOTHING_LEARNED = "the oracle allows nothing"
cdef const char* CHANGED_BY_COSTS = "looking at the costs changed the configuration"
cdef const char* CHANGED_BY_COPY = "a copy differs from what it is a copy of"
cdef const char* WRONG_COST = "a cost is not the difference of the losses"
cdef const char* WRONG_LEAST = "no move costs nothing, or one costs less"
cdef const char* WRONG_LOSS = "a loss is negative, or more than all words and sentence starts"
cdef const char* TOO_LONG = "the derivation is longer than any can be"


cdef struct WalkC:
    const SystemC* system
    StateC* s
    bint labelled
    const GoldC* gold       # NULL: no costs are asked for
    int oracle
    bint exact              # costs must be the differences of losses, and the least nothing
    int ask                 # costs are asked for at one step in this many
    int follow              # of 8 steps with costs so many follow the oracle
    uint64_t seed
    CandidateC* candidates
    int* seen               # n + 1
    StateC copy
    void* copy_block
    int[MAX_MOVES] weights  # how much the walk likes the moves of the table
    const char* fault       # what is wrong, or SOUND
    long n_steps
    long n_judged
    long limit              # of n_steps


cdef inline uint64_t draw(uint64_t* seed) noexcept nogil:
    """SplitMix64 (Steele, Lea & Flood 2014)."""
    cdef uint64_t z
    seed[0] += <uint64_t>0x9E3779B97F4A7C15
    z = seed[0]
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline int below(uint64_t* seed, int bound) noexcept nogil:
    return <int>(draw(seed) % <uint64_t>bound)


# What must hold of a configuration.

cdef bint is_stack(
    const StateC* s, const int* stack, int height, const int* position, int* seen
) noexcept nogil:
    """Whether stack and positions agree. seen: word -> 1: it is on the stack; 0."""
    cdef int i, w, placed = 0
    memset(seen, 0, (s.n + 1) * sizeof(int))
    for i in range(height):
        w = stack[i]
        if not 0 <= w <= s.n or seen[w] or position[w] != i or (w < s.n and w >= s.b):
            return False
        seen[w] = 1
    for w in range(s.n + 1):
        placed += position[w] != NONE
    return placed == height


cdef const char* check_places(const StateC* s, int* seen) noexcept nogil:
    """Counts, stack and buffer."""
    cdef int i, w
    if not (0 <= s.start <= s.b <= s.end <= s.n and 0 <= s.n_stack <= s.n + 1):
        return SIZES
    if not (0 <= s.n_rebuffer <= s.b and 0 <= s.root_last <= 1 and 0 <= s.n_swaps):
        return SIZES
    if not is_stack(s, s.stack, s.n_stack, s.position, seen):
        return STACK
    for i in range(s.n_rebuffer):
        w = s.rebuffer[i]
        if not s.start <= w < s.b or seen[w]:
            return REBUFFER
        seen[w] = 1
    return SOUND


cdef const char* check_side(const StateC* s, int h, bint left, int* n_children) noexcept nogil:
    """The dependents of a word on one side, outermost first."""
    cdef int child = s.left_child[h] if left else s.right_child[h]
    cdef int outer = NONE
    n_children[0] = 0
    while child != NONE:
        if not 0 <= child < s.n or s.head[child] != h or s.outward[child] != outer:
            return KIDS
        if left and not outer < child < h:
            return KIDS
        if not left and not (h < child and (outer == NONE or child < outer)):
            return KIDS
        n_children[0] += 1
        outer = child
        child = s.inward[child]
    if h == s.n and left and s.last_root_child != outer:
        return KIDS
    return SOUND if n_children[0] == (s.n_left[h] if left else s.n_right[h]) else KIDS


cdef const char* check_arcs(const StateC* s, int* seen) noexcept nogil:
    """Heads, labels, dependents."""
    cdef int w, h, children, n_arcs = 0
    cdef const char* fault
    for w in range(s.n):
        h = s.head[w]
        if h == NONE:
            if s.label[w] != NONE:
                return LABELS
            continue
        n_arcs += 1
        if not 0 <= h <= s.n or h == w:
            return HEADS
        if not NONE <= s.label[w] < s.system.n_labels:
            return LABELS
        if s.label[w] != NONE and not label_fits(s.system, h == s.n, s.label[w]):
            return LABELS
    if s.head[s.n] != NONE or s.n_right[s.n] != 0:
        return HEADS
    for h in range(s.n + 1):
        fault = check_side(s, h, True, &children)
        n_arcs -= children
        if fault == SOUND:
            fault = check_side(s, h, False, &children)
            n_arcs -= children
        if fault != SOUND:
            return fault
    return SOUND if n_arcs == 0 else KIDS


cdef const char* check_trees(const StateC* s, int* seen) noexcept nogil:
    """No cycle; list systems: the sets are the trees; no arc across a sentence start."""
    cdef bint sets = s.system.focus is not NULL and not s.system.nonmonotonic
    cdef int w, h, first, start = 0
    memset(seen, 0, (s.n + 1) * sizeof(int))
    for first in range(s.n):
        w = first
        while seen[w] == 0:
            seen[w] = first + 1
            h = s.head[w]
            if h == NONE or h == s.n:
                break
            w = h
            if seen[w] == first + 1:
                return CYCLE
        if sets:
            w = first
            while s.head[w] != NONE and s.head[w] != s.n:
                w = s.head[w]
            if treetop(s, first) != w:
                return SETS
    for w in range(s.n):  # now: word -> first word of its sentence
        if s.sentence_start[w]:
            start = w
        seen[w] = start
    for w in range(s.n):
        h = s.head[w]
        if h != NONE and h != s.n and seen[h] != seen[w]:
            return CROSSED_START
    return SOUND


cdef const char* check_starts(const StateC* s) noexcept nogil:
    """Presets are heeded; without ``segment`` there are no starts."""
    cdef int w
    for w in range(1, s.n):
        if s.sentence_start[w] and (not s.system.segment or s.constraint[w] == -1):
            return PRESET_START
        if w < s.b and s.system.segment and s.constraint[w] == 1 and not s.sentence_start[w]:
            return PRESET_START
    return SOUND


cdef const char* check_state(const StateC* s, int* seen) noexcept nogil:
    """The fault of a configuration, or SOUND. seen: room for n + 1 numbers."""
    cdef const char* fault = check_places(s, seen)
    if fault == SOUND:
        fault = check_arcs(s, seen)
    if fault == SOUND:
        fault = check_trees(s, seen)
    if fault == SOUND:
        fault = check_starts(s)
    return fault


cdef bint same(const StateC* a, const StateC* b) noexcept nogil:
    """Whether two configurations are equal, but for the cost functions' own room."""
    cdef size_t words = (a.n + 1) * sizeof(int)
    if a.n != b.n or memcmp(a, b, <char*>&a.stack - <char*>a) != 0:
        return False
    if memcmp(a.stack, b.stack, a.n_stack * sizeof(int)) != 0:
        return False
    if memcmp(a.rebuffer, b.rebuffer, a.n_rebuffer * sizeof(int)) != 0:
        return False
    if memcmp(a.position, b.position, words) != 0:
        return False
    if memcmp(a.head, b.head, 9 * words) != 0:  # head .. n_right
        return False
    if memcmp(a.own, b.own, min(a.n_own, <int>N_SETS) * words) != 0:
        return False
    return memcmp(a.sentence_start, b.sentence_start, 2 * (a.n + 1)) == 0


# What must hold of moves, costs and losses.

cdef const char* check_candidates(WalkC* walk, int n) noexcept nogil:
    cdef int n_words = walk.s.n
    cdef int i
    cdef CandidateC* c
    if n > max_candidates(walk.system, n_words):
        return TOO_MANY_MOVES
    for i in range(n):
        c = &walk.candidates[i]
        if not 0 <= c.move < walk.system.n_moves or not 1 <= c.k <= n_words + 1:
            return BAD_MOVE
        if (c.head == NONE) != (c.dependent == NONE):
            return BAD_MOVE
        if c.dependent != NONE and (
            not 0 <= c.dependent < n_words or not 0 <= c.head <= n_words or c.head == c.dependent
        ):
            return BAD_MOVE
        if i > 0 and c.move == c[-1].move and c.k == c[-1].k:
            return BAD_MOVE
    return SOUND


cdef const char* check_costs(WalkC* walk, int n) noexcept nogil:
    cdef int bound = 3 * (walk.s.n + 1)
    cdef int least = walk.candidates[0].cost
    cdef int i
    cdef bint learned = False
    cdef CandidateC* c
    for i in range(n):
        c = &walk.candidates[i]
        if not -bound <= c.cost <= bound or not -bound <= c.cost_other <= bound:
            return BAD_COST
        if walk.exact and c.cost > c.cost_other:
            return BAD_COST
        least = min(least, c.cost)
        learned = learned or c.learn != LEARN_NOT
    if not learned:
        return NOTHING_LEARNED
    return WRONG_LEAST if walk.exact and least != 0 else SOUND


cdef int draw_label(WalkC* walk, bint from_root) noexcept nogil:
    """Any label that an arc from ROOT, or from a word, may take."""
    cdef int first = below(&walk.seed, walk.system.n_labels)
    cdef int i, label = NONE
    for i in range(walk.system.n_labels):
        label = (first + i) % walk.system.n_labels
        if label_fits(walk.system, from_root, label):
            break
    return label


cdef const char* make_step(WalkC* walk) noexcept nogil:
    """Make one move, and check all that there is to check. Returns what is wrong, or SOUND."""
    cdef StateC* s = walk.s
    cdef bint noting = not walk.labelled or below(&walk.seed, 4) > 0
    cdef int push_label = draw_label(walk, False) if noting else NONE
    cdef bint judged = walk.gold is not NULL and below(&walk.seed, walk.ask) == 0
    cdef int i = 0
    cdef int loss_before = 0
    cdef int n, total, label, loss_after, cost
    cdef const char* fault
    cdef bint follow = judged and below(&walk.seed, 8) < walk.follow
    cdef CandidateC chosen
    if judged:
        state_copy(&walk.copy, walk.copy_block, s)
        if not same(s, &walk.copy):
            return CHANGED_BY_COPY
        loss_before = walk.system.loss(s, walk.gold)
        n = apply_oracle(s, walk.gold, walk.oracle, push_label, True, walk.candidates)
        if not same(s, &walk.copy):
            return CHANGED_BY_COSTS
        walk.n_judged += 1
    else:
        n = legal_moves(s, walk.candidates)
    if n == 0:
        return NO_MOVE
    fault = check_candidates(walk, n)
    if fault == SOUND and judged:
        fault = check_costs(walk, n)
    if fault != SOUND:
        return fault
    total = 0
    for i in range(n):
        if not follow or walk.candidates[i].learn != LEARN_NOT:
            total += walk.weights[walk.candidates[i].move]
    total = below(&walk.seed, total)
    for i in range(n):
        if not follow or walk.candidates[i].learn != LEARN_NOT:
            total -= walk.weights[walk.candidates[i].move]
            if total < 0:
                break
    chosen = walk.candidates[i]
    label = NONE
    if chosen.dependent != NONE:
        label = draw_label(walk, chosen.head == s.n)
        if chosen.label >= 0 and ((follow and chosen.learn == LEARN_LABEL) or label % 2):
            label = chosen.label
    walk.system.moves[chosen.move].effect(s, chosen.k, label, push_label)
    walk.n_steps += 1
    fault = check_state(s, walk.seen)
    if fault == SOUND and judged:
        cost = chosen.cost
        if chosen.label != NONE and label != chosen.label:
            cost = chosen.cost_other
        loss_after = walk.system.loss(s, walk.gold)
        if not 0 <= loss_after <= 2 * s.n:
            fault = WRONG_LOSS
        elif walk.exact and loss_after != loss_before + cost:
            fault = WRONG_COST
    return fault


cdef bint step(void* walker, StateC* s) noexcept nogil:
    """Make one move. False: something is wrong."""
    cdef WalkC* walk = <WalkC*>walker
    walk.fault = make_step(walk)
    if walk.n_steps > walk.limit:
        walk.fault = TOO_LONG
    return walk.fault == SOUND


cdef const char* walk_on(WalkC* walk) noexcept nogil:
    """Go on to the end. Returns what is wrong, or SOUND."""
    cdef int i
    walk.limit = walk.n_steps + (<long>walk.s.n + 4) * (walk.s.n + 4)
    for i in range(MAX_MOVES):  # each walk likes some moves better than others
        walk.weights[i] = 1 << below(&walk.seed, 4)
    walk.fault = check_state(walk.s, walk.seen)
    if walk.fault == SOUND:
        walk_to_end(walk.s, step, walk)
    return walk.fault


def random_walk(
    MoveTable system, State state, uint64_t seed, Gold gold=None, oracle="dynamic",
    bint exact=False, int ask=1, int follow=4
):
    """Make random legal moves until the configuration is final.

    Args:
        system: the system.
        state: where to begin; changed in place.
        seed: the same seed gives the same walk.
        gold: the tree that costs are about; None: no costs are asked for.
        oracle: the oracle that is asked.
        exact: whether costs must be the differences of losses, and the least of them 0.
        ask: costs are asked for at one step in this many.
        follow: of 8 such steps so many, on average, make a move that the oracle allows.

    Returns:
        (number of moves made, number of steps at which costs were asked for).

    Raises:
        ValueError: gold or oracle as in ``TransitionSystem.oracle``.
        AssertionError: something does not hold; the state is what it was found in.
    """
    cdef WalkC walk
    cdef int n = state.c.n
    cdef const char* fault
    system.check_state(state)
    walk.system = &system.c
    walk.labelled = system.labels is not None
    walk.s = &state.c
    walk.gold = NULL
    walk.oracle = system.oracle_id(oracle)
    if gold is not None:
        gold, _ = system.check_gold(state, gold)
        walk.gold = &gold.c
    walk.exact = exact
    walk.ask = max(1, ask)
    walk.follow = follow
    walk.seed = seed
    walk.n_steps = 0
    walk.n_judged = 0
    walk.seen = NULL
    walk.copy_block = NULL
    walk.candidates = <CandidateC*>allocate(max_candidates(&system.c, n), sizeof(CandidateC))
    try:
        walk.seen = <int*>allocate(n + 1, sizeof(int))
        walk.copy_block = allocate(state_block_size(n), 1)
        with nogil:
            fault = walk_on(&walk)
    finally:
        free(walk.candidates)
        free(walk.seen)
        free(walk.copy_block)
    if fault != SOUND:
        raise AssertionError(
            f"{fault.decode('ascii')}: {system!r}, seed {seed}, after {walk.n_steps} moves, "
            f"constraints {[state.c.constraint[w] for w in range(n)]}, {gold!r}, {state!r}"
        )
    return walk.n_steps, walk.n_judged


def kept_moves(MoveTable system not None, State state not None, Gold gold not None):
    """The moves that keep all known arcs, as names (list of str).

    Args:
        system: a system with ``keep_known``, without non-local arcs.
        state: one of its configurations, reached by such moves.
        gold: the partial tree.

    Raises:
        ValueError: a configuration of another system, or a tree of other words.
    """
    cdef CandidateC[MAX_MOVES] candidates
    cdef int i, n
    system.check_state(state)
    if system.c.keep_known is NULL or gold.c.n != state.c.n:
        raise ValueError(f"{system.name} keeps no arcs of {gold!r:.80} in {state!r:.80}.")
    system.bind(gold)
    n = legal_moves(&state.c, candidates)
    system.c.keep_known(&state.c, &gold.c, candidates, n)
    return [
        system.moves[candidates[i].move] for i in range(n) if candidates[i].learn != LEARN_NOT
    ]
