"""The 2-planar system (Gómez-Rodríguez & Nivre 2010, 2013).

A configuration is (stack, other stack, buffer, arcs). Each stack is a plane: SHIFT pushes a word on
both, REDUCE pops the stack, SWITCH makes the other stack the stack. Arcs join s0, the top of the
stack, and b0, the first word of the buffer, and leave both where they are. Start: empty stacks, all
words in the buffer. End: an empty buffer. Words without a head then hang off ROOT. SWITCH is legal
once for each b0: it says that the stack has no more arcs with b0. So a sentence of n words takes at
most 5n moves.

Loss. A gold arc between words is *open* in a plane if its dependent has no head, and its later end
is behind b0, or is b0 and SWITCH has not closed the plane; and its earlier end is on the stack of
the plane, or in the buffer. What is neither built nor open in a plane is lost. What is open can be
built together if arcs that cross are in different planes, and no arcs make a cycle: to get at a
word, a stack pops those above it, and an arc that this takes from them would cross. The loss is the
number of lost arcs and of those that must be given up for that (``planes``). It is exact on all
trees, also on those that are not 2-planar, unless that search is cut short. Roots and sentences:
as in the list systems.
"""
from spacy_nmparse.scorers.features cimport DISTANCE_VALUES, apart, new_fact, new_word
from spacy_nmparse.systems.covington.loss cimport behind
from spacy_nmparse.systems.errors cimport can_be_right, least_error, settled
from spacy_nmparse.systems.gold cimport GoldC, far_end
from spacy_nmparse.systems.moves cimport b0_end, s0_end
from spacy_nmparse.lab.planes cimport PlanesC, derive_planes, fewest_given_up, planar_tables
from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.names cimport new_move
from spacy_nmparse.systems.sentences cimport can_break, gold_breaks, missed_start, must_break
from spacy_nmparse.systems.headless cimport N_SETS, join, treetop
from spacy_nmparse.systems.state cimport (
    NONE,
    S,
    StateC,
    own_array,
    pop,
    push,
    state_add_arc,
    words_alike,
)
from spacy_nmparse.systems.static cimport find_move, use_static
from spacy_nmparse.systems.table cimport (
    BREAK,
    CROSSES_BY_ARC,
    LEFT_ARC,
    REDUCE,
    RIGHT_ARC,
    SHIFT,
    CandidateC,
    MoveTable,
)

from spacy_nmparse.systems.headless import hang
from spacy_nmparse.systems.parts import Items


cdef int SWITCH = new_move("SWITCH")


cdef enum:  # numbers of a configuration
    N_OTHER         # height of the other stack
    PLANE           # which plane the stack is of, 0 or 1
    SWITCHED        # 1: SWITCH was made since the last SHIFT


cdef enum:  # its arrays
    OTHER_STACK = N_SETS
    OTHER_POSITION          # word -> its place there, or NONE
    N_ARRAYS


cdef inline int* other_stack(const StateC* s) noexcept nogil:
    return own_array(s, OTHER_STACK)


cdef inline int* other_position(const StateC* s) noexcept nogil:
    return own_array(s, OTHER_POSITION)


# The other stack, as features: T0, T1, ... from its top on.

cdef int other_stack_word(const StateC* s, int i, int head, int dependent) noexcept nogil:
    return other_stack(s)[s.numbers[N_OTHER] - 1 - i] if i < s.numbers[N_OTHER] else NONE


cdef int other_distance(const StateC* s, int head, int dependent) noexcept nogil:
    return apart(s, other_stack_word(s, 0, NONE, NONE), b0_end(s, 1))


cdef int switched(const StateC* s, int head, int dependent) noexcept nogil:
    return s.numbers[SWITCHED]


new_word("T", other_stack_word)
new_fact("T0-B0.distance", DISTANCE_VALUES, other_distance)
new_fact("switched", 2, switched)


cdef enum:  # planes, as sets
    STACK = 1
    OTHER = 2
    BOTH = 3


# SHIFT: (S, T, b0|B, A) => (S|b0, T|b0, B, A).

cdef bint can_shift(const StateC* s, int k) noexcept nogil:
    return s.b < s.n and not must_break(s)


cdef void do_shift(StateC* s, int k, int l, int push_label) noexcept nogil:
    push(s, s.b)
    other_position(s)[s.b] = s.numbers[N_OTHER]
    other_stack(s)[s.numbers[N_OTHER]] = s.b
    s.numbers[N_OTHER] += 1
    s.b += 1
    s.numbers[SWITCHED] = 0


# REDUCE: (S|s0, T, B, A) => (S, T, B, A).

cdef bint can_reduce(const StateC* s, int k) noexcept nogil:
    return s.n_stack > 0 and s.b < s.n and not must_break(s)


cdef void do_reduce(StateC* s, int k, int l, int push_label) noexcept nogil:
    pop(s)


# LEFT-ARC(l): (S|s0, T, b0|B, A) => (S|s0, T, b0|B, A + b0 -l-> s0). s0 has no head, and not
# s0 ->* b0.

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil:
    if not can_reduce(s, k):
        return False
    return s.head[S(s, 0)] == NONE and treetop(s, s.b) != S(s, 0)


cdef void do_left_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    join(s, s.b, S(s, 0))
    state_add_arc(s, s.b, S(s, 0), l)


# RIGHT-ARC(l): (S|s0, T, b0|B, A) => (S|s0, T, b0|B, A + s0 -l-> b0). b0 has no head, and not
# b0 ->* s0.

cdef bint can_right_arc(const StateC* s, int k) noexcept nogil:
    if not can_reduce(s, k):
        return False
    return s.head[s.b] == NONE and treetop(s, S(s, 0)) != s.b


cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    join(s, S(s, 0), s.b)
    state_add_arc(s, S(s, 0), s.b, l)


# SWITCH: (S, T, B, A) => (T, S, B, A). T is not empty, and there was none since the last SHIFT.

cdef bint can_switch(const StateC* s, int k) noexcept nogil:
    return s.numbers[N_OTHER] > 0 and s.b < s.n and not s.numbers[SWITCHED] and not must_break(s)


cdef void do_switch(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int* other = other_stack(s)
    cdef int* places = other_position(s)
    cdef int i, w
    for i in range(max(s.n_stack, s.numbers[N_OTHER])):
        s.stack[i], other[i] = other[i], s.stack[i]
    for w in range(s.start, s.b):
        s.position[w], places[w] = places[w], s.position[w]
    s.n_stack, s.numbers[N_OTHER] = s.numbers[N_OTHER], s.n_stack
    s.numbers[PLANE] = 1 - s.numbers[PLANE]
    s.numbers[SWITCHED] = 1


# BREAK: (S, T, b0|B, A) => ([], [], b0|B, A), as at the start.

cdef void do_break(StateC* s, int k, int l, int push_label) noexcept nogil:
    while s.n_stack:
        pop(s)
    while s.numbers[N_OTHER]:
        s.numbers[N_OTHER] -= 1
        other_position(s)[other_stack(s)[s.numbers[N_OTHER]]] = NONE
    s.numbers[PLANE] = 0
    s.numbers[SWITCHED] = 0
    s.sentence_start[s.b] = 1
    s.start = s.b


# The loss.

cdef struct PlanarViewC:    # a configuration, as the difference to a state
    int b
    int n_stack     # of the state's stack
    int n_other
    int pushed      # this word is on both; or NONE
    int closed      # planes that get no more arcs with b
    int head        # this arc has been added; or NONE
    int dependent


cdef inline PlanarViewC planar_view(const StateC* s) noexcept nogil:
    cdef PlanarViewC v
    v.b = s.b
    v.n_stack = s.n_stack
    v.n_other = s.numbers[N_OTHER]
    v.pushed = NONE
    v.closed = OTHER if s.numbers[SWITCHED] else 0
    v.head = NONE
    v.dependent = NONE
    return v


cdef inline int head_of(const StateC* s, const PlanarViewC* v, int w) noexcept nogil:
    return v.head if w == v.dependent else s.head[w]


cdef inline int top_of(const StateC* s, const PlanarViewC* v, int w) noexcept nogil:
    """The top of the tree that w is in."""
    cdef int top = treetop(s, w)
    return treetop(s, v.head) if top == v.dependent else top


cdef inline int planes_of(const StateC* s, const PlanarViewC* v, int w) noexcept nogil:
    """The planes on whose stack w is."""
    cdef int planes = 0
    if w == v.pushed:
        return BOTH
    if 0 <= s.position[w] < v.n_stack:
        planes = STACK
    if 0 <= other_position(s)[w] < v.n_other:
        planes |= OTHER
    return planes


cdef int open_planes(
    const StateC* s, const GoldC* gold, const PlanarViewC* v, int w, int e
) noexcept nogil:
    """The planes where the gold arc into w can still be built, if the sentence ends before e."""
    cdef int g = gold.head[w]
    cdef int last = max(g, w)
    cdef int first = min(g, w)
    cdef int planes = BOTH
    if g < s.start or last < v.b or last >= e or head_of(s, v, w) != NONE:
        return 0
    if not can_be_right(s.system, gold, w):
        return 0
    if first < v.b:
        planes = planes_of(s, v, first)
        if last == v.b:
            planes &= ~v.closed
    return planes


cdef int mark_cycles(
    const StateC* s, const GoldC* gold, const PlanarViewC* v, int e
) noexcept nogil:
    """Number the cycles of built and open arcs, and note in ``cycle`` which open arcs they have.
    Words have one head at most: no cycles share an arc. The way around leads from the top of a tree
    to the tree that its gold head is in; a cycle has a built arc, so a top up to b."""
    cdef PlanesC* p = planar_tables(gold)
    cdef int cycles = 0
    cdef int walk = 0
    cdef int w, top
    for w in range(s.start, e):
        p.colour[w] = 0
        p.cycle[w] = 0
    for w in range(s.start, min(v.b + 1, e)):
        if head_of(s, v, w) != NONE or p.colour[w]:
            continue
        walk += 1
        top = w
        while p.colour[top] == 0:
            p.colour[top] = walk
            if p.open[top] == 0:
                break
            top = top_of(s, v, gold.head[top])
        if p.open[top] and p.colour[top] == walk:
            cycles += 1
            while p.cycle[top] == 0:
                p.cycle[top] = cycles
                top = top_of(s, v, gold.head[top])
    return cycles


cdef int planar_inner(
    const StateC* s, const GoldC* gold, const PlanarViewC* v, int e
) noexcept nogil:
    """Headless words of the sentence that lose their gold head when it ends before e; and words
    behind it, where two planes do not hold all gold arcs."""
    cdef PlanesC* p = planar_tables(gold)
    cdef bint strayed = False   # an arc is built that gold does not have
    cdef int lost = 0
    cdef int roots = 0
    cdef int w, g, h
    for w in range(s.start, e):
        g = gold.head[w]
        h = head_of(s, v, w)
        p.open[w] = 0
        if h != NONE:
            strayed = strayed or h != g
        elif g == s.n and can_be_right(s.system, gold, w):
            roots += 1
        elif g != NONE:
            if g != s.n:
                p.open[w] = open_planes(s, gold, v, w, e)
            lost += p.open[w] == 0
    if s.system.single_root:
        lost += max(0, roots - 1)
    p.n_cycles = mark_cycles(s, gold, v, e) if strayed else 0
    if p.beyond:
        for w in range(e, s.n):
            p.cycle[w] = 0
            p.open[w] = 0
            if e <= gold.head[w] < s.n and can_be_right(s.system, gold, w):
                p.open[w] = BOTH
        e = s.n
    if p.crossing or p.n_cycles:
        lost += fewest_given_up(gold, s.start, e)
    return lost


cdef inline bint starts_here(const StateC* s, const PlanarViewC* v) noexcept nogil:
    """Whether a sentence start can be made at b: then b has no arc yet."""
    return (
        s.system.segment and s.start < v.b < s.n and s.constraint[v.b] != -1
        and s.n_left[v.b] == 0 and v.head != v.b and head_of(s, v, v.b) == NONE
    )


cdef int sentence_end(const StateC* s, const GoldC* gold, const PlanarViewC* v) noexcept nogil:
    """Where the sentence ends at best: at the first place that no open arc crosses."""
    cdef int n = s.n
    cdef int far = NONE
    cdef int w, e, i
    if not s.system.segment or v.b >= n:
        return n
    for w in range(s.start, v.b + 1):
        if w == v.b and far < w and gold.sent_start[w] != 0 and starts_here(s, v):
            return w
        if open_planes(s, gold, v, w, n):
            far = max(far, gold.head[w])
        for i in range(gold.child_offset[w + 1] - 1, gold.child_offset[w] - 1, -1):
            if gold.children[i] < v.b or far >= gold.children[i]:
                break
            if open_planes(s, gold, v, gold.children[i], n):
                far = gold.children[i]
    for e in range(v.b + 1, n):
        if far < e and gold.sent_start[e] != 0 and s.constraint[e] != -1:
            return e
        far = max(far, far_end(gold, e))
    return n


cdef int planar_rest(const StateC* s, const GoldC* gold, const PlanarViewC* v) noexcept nogil:
    """Errors to come: in headless words from the start of the sentence on, and in undecided starts.
    """
    cdef int e = sentence_end(s, gold, v)
    cdef int loss = planar_inner(s, gold, v, e)
    if s.system.segment and s.start < v.b < s.n and not starts_here(s, v):
        loss += gold.sent_start[v.b] == 1
    return loss + (behind(s.system, gold, e) if e < s.n else 0)


cdef int shift_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef PlanarViewC v = planar_view(s)
    v.pushed = s.b
    v.b += 1
    v.closed = 0
    return missed_start(s, gold) + planar_rest(s, gold, &v)


cdef int reduce_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef PlanarViewC v = planar_view(s)
    v.n_stack -= 1
    return planar_rest(s, gold, &v)


cdef int arc_rest(const StateC* s, const GoldC* gold, int head, int dependent) noexcept nogil:
    cdef PlanarViewC v = planar_view(s)
    v.head = head
    v.dependent = dependent
    return least_error(s, gold, head, dependent) + planar_rest(s, gold, &v)


cdef int left_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    return arc_rest(s, gold, s.b, S(s, 0))


cdef int right_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    return arc_rest(s, gold, S(s, 0), s.b)


cdef int switch_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef PlanarViewC v = planar_view(s)
    v.closed = STACK
    return planar_rest(s, gold, &v)


cdef int break_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef PlanarViewC v = planar_view(s)
    cdef int loss = planar_inner(s, gold, &v, s.b) + behind(s.system, gold, s.b)
    return loss + (gold.sent_start[s.b] == 0)


cdef int planar_loss(const StateC* s, const GoldC* gold) noexcept nogil:
    cdef PlanarViewC v = planar_view(s)
    cdef int loss = settled(s, gold) + planar_rest(s, gold, &v)
    cdef int roots = 0
    cdef int w
    for w in range(s.start):  # headless words of the sentences that BREAK has closed
        if s.sentence_start[w]:
            roots = 0
        if s.head[w] == NONE and gold.head[w] != NONE:
            if gold.head[w] == s.n and can_be_right(s.system, gold, w):
                roots += 1
                loss += s.system.single_root and roots > 1
            else:
                loss += 1
    return loss


# The static oracle.

cdef int nearest_arc(
    const StateC* s, const GoldC* gold, const int* stack, int height, int plane
) noexcept nogil:
    """The first item of a stack from its top with a gold arc with b0 that belongs in the plane and
    has not been built, or NONE."""
    cdef int b0 = s.b
    cdef int i, w, d
    for i in range(height - 1, -1, -1):
        w = stack[i]
        if gold.head[w] == b0:
            d = w
        elif gold.head[b0] == w:
            d = b0
        else:
            continue
        if s.head[d] == NONE and max(planar_tables(gold).plane[d], 1) == plane:
            return w
    return NONE


cdef int wanted_move(
    const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil:
    """BREAK where gold does; else the gold arc between s0 and b0, if it belongs in the plane of the
    stack; else REDUCE, if another item of the stack has such an arc with b0; else SWITCH, if one of
    the other stack has one in its plane; else SHIFT. Arcs that nothing crosses belong in the first
    plane; of those that cross each other, the one whose dependent comes first."""
    cdef int name = SHIFT
    cdef int near_
    if gold_breaks(s, gold):
        name = BREAK
    else:
        near_ = nearest_arc(s, gold, s.stack, s.n_stack, 1 + s.numbers[PLANE])
        if near_ != NONE and near_ == S(s, 0):
            name = LEFT_ARC if gold.head[near_] == s.b else RIGHT_ARC
        elif near_ != NONE:
            name = REDUCE
        elif nearest_arc(
            s, gold, other_stack(s), s.numbers[N_OTHER], 2 - s.numbers[PLANE]
        ) != NONE:
            name = SWITCH
    return find_move(s, candidates, n, name, 1)


cdef void planar_start(StateC* s) noexcept nogil:
    s.n_own = N_ARRAYS
    s.numbers[N_OTHER] = 0
    s.numbers[PLANE] = 0
    s.numbers[SWITCHED] = 0


cdef bint planar_is_final(const StateC* s) noexcept nogil:
    return s.b == s.n


cdef bint planar_alike(const StateC* a, const StateC* b, int first) noexcept nogil:
    cdef int i
    if not words_alike(a, b, first) or a.numbers[SWITCHED] != b.numbers[SWITCHED]:
        return False
    for i in range(a.numbers[N_OTHER]):
        if other_stack(a)[i] != other_stack(b)[i]:
            return False
    return a.numbers[N_OTHER] == b.numbers[N_OTHER]


cdef void planar_focus(StateC* s, int a, int b) noexcept nogil:
    """The later word is the first of the buffer, and the earlier one all that is on the stack."""
    s.b = max(a, b)
    s.stack[0] = min(a, b)
    s.n_stack = 1
    s.numbers[N_OTHER] = 0
    s.numbers[SWITCHED] = 0


CONDITION = " Only a word without a head can be the dependent, and the arc must not close a cycle."
TEXTS = {
    "stack": "Words before the buffer that can still get an arc in the active plane; the top is "
    "the last one shown.",
    "other_stack": "The same of the other plane. Arcs of one plane never cross.",
    "buffer": "The words to come. Arcs are made with the first of them.",
    "SHIFT": "The first word of the buffer goes onto both stacks.",
    "REDUCE": "The top of the stack leaves it. On the other stack it stays.",
    "LEFT-ARC": "The first word of the buffer becomes the head of the top of the stack. Both stay "
    f"where they are.{CONDITION}",
    "RIGHT-ARC": "The top of the stack becomes the head of the first word of the buffer. Both stay "
    f"where they are.{CONDITION}",
    "SWITCH": "The other stack becomes the stack: its plane is active. It needs a word on the "
    "other stack, and a SHIFT since the last SWITCH.",
    "BREAK": "The sentence ends before the first word of the buffer, and the next one starts "
    "there, with empty stacks.",
}


cdef class TwoPlanar(MoveTable):
    """The 2-planar system. Its options are those of every system; ``root_label`` is the label of
    headless words in the final tree, and of no others (None: they have none, and labels of gold
    roots are not judged)."""
    def __init__(self, labels=None, **options):
        self.begin("two_planar", options)
        self.texts = TEXTS
        self.features["SWITCH"] = (
            "T0", "T1", "T0*B0", "T0.label", "B0.label", "T0-B0.distance", "switched",
            "S0-B0.crossed", "S0-B0.headless",
        )
        self.c.start = planar_start
        self.c.is_final = planar_is_final
        self.c.alike = planar_alike
        self.c.focus = planar_focus
        self.c.derive = derive_planes
        self.c.loss = planar_loss
        use_static(&self.c, wanted_move)
        self.add_move(SHIFT, can_shift, do_shift, NULL, shift_rest)
        self.add_move(REDUCE, can_reduce, do_reduce, NULL, reduce_rest)
        self.add_move(
            LEFT_ARC, can_left_arc, do_left_arc, NULL, left_arc_rest, b0_end, s0_end
        ).crossing = CROSSES_BY_ARC
        self.add_move(
            RIGHT_ARC, can_right_arc, do_right_arc, NULL, right_arc_rest, s0_end, b0_end
        ).crossing = CROSSES_BY_ARC
        self.add_move(SWITCH, can_switch, do_switch, NULL, switch_rest)
        self.add_break(can_break, do_break, NULL, break_rest)

    def parts(self, State state not None):
        """As ``TransitionSystem.parts``."""
        cdef int i
        other = [other_stack(&state.c)[i] for i in range(state.c.numbers[N_OTHER])]
        return {
            "stack": state.stack,
            "other_stack": other,
            "buffer": Items((), range(state.c.b, state.c.end)),
        }

    def details(self, State state not None):
        """As ``TransitionSystem.details``: whether SWITCH was made since the last SHIFT."""
        return {"switched": state.c.numbers[SWITCHED] == 1}

    def hang_headless(self, heads, labels, starts):
        """As ``TransitionSystem.hang_headless``."""
        hang(heads, labels, starts, self.c.single_root, self.options["root_label"])
