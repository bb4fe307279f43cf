"""Which moves keep all known arcs of a partial tree.

A move that costs nothing keeps them: swap.pyx has found a derivation behind it that loses nothing.
But the plan of the next configuration is another one, and may find none. So there are two safety
nets. With them, a search that is held to these moves makes all known arcs, and always has a move.

The first is a walk with a fixed order: that of the gold tree, with heads made up where they are
unknown (gold.pyx). Words of unknown head leave the stack as soon as they can, to any head. If the
walk gets to the end, so does the walk after its first move. From the first configuration it gets
there for every part of a tree: in this order no known arcs cross, and no word between them waits
for another. Where derivations are long, this walk alone tells the moves.

The second is the derivation that was found for the last move, continued from where it was found.
"""
from libc.string cimport memcpy

from spacy_nmparse.systems.arc_standard cimport can_right_arc, is_complete
from spacy_nmparse.systems.errors cimport label_counts
from spacy_nmparse.systems.gold cimport far_end
from spacy_nmparse.systems.sentences cimport errors_behind, gold_breaks
from spacy_nmparse.systems.state cimport NONE, B, S
from spacy_nmparse.systems.swap.plan cimport (
    STAY,
    PlanC,
    follow,
    has_item,
    improve,
    load,
    make_order,
    make_room,
    make_tree,
    swap_tables,
)
from spacy_nmparse.systems.table cimport (
    BREAK,
    LEARN_ANY,
    LEARN_LABEL,
    LEARN_NOT,
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
    SWAP,
)


cdef enum:
    TANGLED = 1000      # places by which the order moves words; treebanks have a few hundred


# What is noted of a state in its own arrays: the sequence that a derivation starts from, and four
# numbers.

cdef enum:
    N_OWN = 3
    ON_WALK = -2    # for a number of moves
    RESUME = -2     # for a move: from the start of the derivation


cdef void note(StateC* s, int a, int b, int c, int n_moves) noexcept nogil:
    cdef int* notes = s.own + s.n + 1
    s.n_own = N_OWN
    notes[0] = a
    notes[1] = b
    notes[2] = c
    notes[3] = n_moves


cdef inline bint is_noted(const StateC* s, int a, int b, int c, int n_moves) noexcept nogil:
    cdef const int* notes = s.own + s.n + 1
    return s.n_own and notes[0] == a and notes[1] == b and notes[2] == c and notes[3] == n_moves


# The walk.

cdef bint lay_out(const StateC* s, const GoldC* gold, int move, PlanC* p) noexcept nogil:
    """Lay out the walk after the named move, or STAY. False: a known arc is lost."""
    cdef int roots = 0
    cdef int i, w, g
    load(s, gold, move, False, p)
    p.strict = True
    for i in range(1, p.size):
        w = p.seq[i]
        g = gold.head[w]
        p.wanted[w] = g != NONE
        p.head[w] = g
        roots += g == gold.n
        if g != NONE and not has_item(p, g):
            return False
        if move == BREAK and far_end(gold, w) >= p.end:
            return False
    return roots <= 1 or not s.system.single_root


cdef bint leads_to_end(const StateC* s, const GoldC* gold, int move) noexcept nogil:
    """Whether the walk after the named move, or STAY, gets to the end."""
    cdef PlanC p
    return lay_out(s, gold, move, &p) and (
        follow(s.system, &p, p.head, swap_tables(gold).order, p.wanted) == 0
    )


cdef int first_move(StateC* s, const GoldC* gold) noexcept nogil:
    """The first move of the walk from here, which is noted; NONE: there is no walk to the end, or a
    BREAK comes before it."""
    cdef const int* order = swap_tables(gold).order
    cdef int s0 = S(s, 0)
    cdef int s1 = S(s, 1)
    cdef PlanC p
    if not is_noted(s, s.n_stack, s.n_rebuffer, s0, ON_WALK) and not leads_to_end(s, gold, STAY):
        return NONE
    load(s, gold, STAY, False, &p)
    if s.n_rebuffer == 0 and s.b == p.end and p.end < s.end:
        return NONE
    if s.n_stack > 2 and gold.head[s1] in (NONE, s0) and is_complete(s, gold, s1):
        note(s, s.n_stack - 1, s.n_rebuffer, s0, ON_WALK)
        return LEFT_ARC
    if can_right_arc(s, 1) and gold.head[s0] in (NONE, s1) and is_complete(s, gold, s0):
        note(s, s.n_stack - 1, s.n_rebuffer, s1, ON_WALK)
        return RIGHT_ARC
    if s.n_stack > 2 and s1 < s0 and order[s0] < order[s1]:
        note(s, s.n_stack - 1, s.n_rebuffer + 1, s0, ON_WALK)
        return SWAP
    note(s, s.n_stack + 1, max(0, s.n_rebuffer - 1), B(s, 0), ON_WALK)
    return SHIFT


cdef bint learn_by_walk(StateC* s, const GoldC* gold, CandidateC* candidates, int n) noexcept nogil:
    """Learn the moves whose walk gets to the end. Where the heads of S0 and S1 are known, the first
    move of the walk is enough. Returns whether there are any."""
    cdef int first = first_move(s, gold)
    cdef bint others = first == NONE or gold.head[S(s, 0)] == NONE or (
        s.n_stack > 2 and gold.head[S(s, 1)] == NONE
    )
    cdef int i, name
    for i in range(n):
        name = s.system.moves[candidates[i].move].name
        if loses_none(s, gold, &candidates[i]) and (
            name == first or others and leads_to_end(s, gold, name)
        ):
            candidates[i].learn = LEARN_ANY
    if first == NONE and any_learned(candidates, n):
        s.n_own = 0  # no derivation goes on
    return any_learned(candidates, n)


# The derivation.

cdef void note_start(StateC* s, const GoldC* gold) noexcept nogil:
    cdef PlanC p
    load(s, gold, STAY, False, &p)
    memcpy(s.own, p.seq, p.size * sizeof(int))
    note(s, p.size, p.n_stack, p.unread, 0)


cdef void prepare(const StateC* s, const GoldC* gold, int move, PlanC* p) noexcept nogil:
    cdef const int* notes = s.own + s.n + 1
    cdef int i
    if move != RESUME:
        load(s, gold, move, False, p)
        return
    make_room(swap_tables(gold), gold.n, p)
    p.end = gold.n
    p.size = notes[0]
    p.n_stack = notes[1]
    p.unread = notes[2]
    p.asked = notes[3]
    memcpy(p.seq, s.own, p.size * sizeof(int))
    for i in range(p.size):
        p.place[p.seq[i]] = i


cdef bint is_derivable(const StateC* s, const GoldC* gold, int move, PlanC* p) noexcept nogil:
    """Whether ``planned_rest`` of swap.pyx finds a derivation without a loss behind the named move,
    STAY or RESUME. p.move: its wanted move."""
    prepare(s, gold, move, p)
    if make_tree(s.system, gold, s.system.single_root, p) or (
        p.end < gold.n and errors_behind(s, gold, p.end)
    ):
        return False
    if follow(s.system, p, p.head, NULL, p.wanted) == 0:
        return True
    make_order(p)
    if follow(s.system, p, p.head, p.order, p.wanted) == 0 and p.steady:
        return True
    prepare(s, gold, move, p)
    make_tree(s.system, gold, False, p)
    return improve(s.system, gold, p, 0, 1) == 0


cdef void learn_by_derivation(
    StateC* s, const GoldC* gold, CandidateC* candidates, int n
) noexcept nogil:
    """Learn the next move of the derivation, or the BREAK that comes before it."""
    cdef PlanC p
    cdef bint legal = False
    cdef int i, name
    if s.n_own == 0 or s.own[s.n + 4] == ON_WALK:
        note_start(s, gold)
    is_derivable(s, gold, RESUME, &p)
    for i in range(n):
        legal = legal or s.system.moves[candidates[i].move].name == p.move
    for i in range(n):
        name = s.system.moves[candidates[i].move].name
        if name == (p.move if legal else BREAK):
            candidates[i].learn = LEARN_ANY
    s.own[s.n + 4] += legal


cdef bint loses_none(const StateC* s, const GoldC* gold, const CandidateC* c) noexcept nogil:
    """Whether the move itself loses no known arc and no sentence start."""
    cdef int name = s.system.moves[c.move].name
    if c.dependent != NONE:
        return gold.head[c.dependent] in (NONE, c.head) and is_complete(s, gold, c.dependent)
    if name == BREAK:
        return gold.sent_start[s.b] != 0
    return name != SHIFT or not gold_breaks(s, gold)


cdef bint is_tangled(const StateC* s, const GoldC* gold) noexcept nogil:
    """Whether the order of the sentence differs so much from the text that derivations are long."""
    cdef const int* order = swap_tables(gold).order
    cdef PlanC p
    cdef int moved = 0
    cdef int w
    load(s, gold, STAY, False, &p)
    for w in range(s.start, p.end):
        moved += abs(order[w] - 1 - w)
    return moved > TANGLED


cdef bint any_learned(const CandidateC* candidates, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        if candidates[i].learn != LEARN_NOT:
            return True
    return False


cdef void keep_known(StateC* s, const GoldC* gold, CandidateC* candidates, int n) noexcept nogil:
    """Learn the moves, and on arcs the labels, that keep all known arcs."""
    cdef PlanC p
    cdef bint tangled = is_tangled(s, gold)
    cdef int i
    cdef CandidateC* c
    for i in range(n):
        c = &candidates[i]
        c.learn = LEARN_NOT
        if not tangled and loses_none(s, gold, c) and (
            is_derivable(s, gold, s.system.moves[c.move].name, &p)
        ):
            c.learn = LEARN_ANY
    if any_learned(candidates, n):
        s.n_own = 0
    elif not learn_by_walk(s, gold, candidates, n):
        learn_by_derivation(s, gold, candidates, n)
    for i in range(n):
        c = &candidates[i]
        if c.learn == LEARN_ANY and label_counts(s, gold, c.head, c.dependent):
            c.learn = LEARN_LABEL
            c.label = gold.label[c.dependent]
