"""The list systems: Covington (2001; Nivre 2008) and NL-Covington (Fernández-González &
Gómez-Rodríguez 2018), monotonic and non-monotonic.

A configuration is (lambda1, lambda2, buffer, arcs). i is the last item of lambda1, j the first word
of the buffer: the focus words. Start: empty lists (``explicit_root``: ROOT in lambda1), all words
in the buffer. End: an empty buffer. Words without a head then hang off ROOT. Moves of the non-local
system reach any item of lambda1: i_k is the k-th from the right, i = i_1.

Cycles. The monotonic systems keep the words of a tree together in a union-find set (state_join):
h -> d is legal iff d has no head and h is not in d's set. The non-monotonic ones delete arcs, which
no such sets survive. They need none: every arc is legal, and only after the choice one chain of
heads is climbed, from h, to see whether h -> d closes a cycle; then the arc into h goes.

Losses are in ``loss``, all costs of a configuration at once in ``costs``.
"""
from spacy_nmparse.systems.covington.costs cimport list_costs
from spacy_nmparse.systems.covington.loss cimport list_loss, root_has_child
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.sentences cimport can_break, gold_breaks, must_break
from spacy_nmparse.systems.state cimport (
    NONE,
    StateC,
    is_above,
    item,
    n_items,
    state_add_arc,
    state_del_arc,
    state_join,
    treetop,
)
from spacy_nmparse.systems.static cimport find_move, use_static
from spacy_nmparse.systems.system cimport (
    BREAK,
    CROSSES_BY_ARC,
    LEFT_ARC,
    NO_ARC,
    RIGHT_ARC,
    SHIFT,
    CandidateC,
    MoveC,
    SystemC,
    TransitionSystem,
    next_k_t,
)


cdef int item_end(const StateC* s, int k) noexcept nogil:
    return item(s, k)


cdef int focus_end(const StateC* s, int k) noexcept nogil:
    return s.b


cdef inline bint is_too_long(const StateC* s, int i) noexcept nogil:
    """Whether no arc may be made between i and j. Those from ROOT are of no length."""
    return s.system.max_length > 0 and i != s.n and s.b - i > s.system.max_length


cdef int next_item(const StateC* s, int k) noexcept nogil:
    """The k of the next item of lambda1 that is near enough: behind the near words, ROOT."""
    k += 1
    if k > s.n_lambda1:
        return NONE
    if not is_too_long(s, item(s, k)):
        return k
    return s.n_lambda1 if s.root_first else NONE


cdef void add_arc(StateC* s, int head, int dependent, int label) noexcept nogil:
    """A + head -> dependent, in place of dependent's old arc, without the arc into head if that
    closes a cycle now."""
    if s.system.nonmonotonic:
        state_del_arc(s, dependent)
        if is_above(s, dependent, head):  # a cycle
            state_del_arc(s, head)
    elif head != s.n:
        state_join(s, head, dependent)
    state_add_arc(s, head, dependent, label)
    if head == s.n:
        s.root_child = dependent


cdef inline bint deletes(const StateC* s, int head, int dependent) noexcept nogil:
    """Whether an arc is deleted that head -> dependent would be made for."""
    return s.head[dependent] != NONE or is_above(s, dependent, head)


cdef bint left_deletes(const StateC* s, int k) noexcept nogil:
    return deletes(s, s.b, item(s, k))


cdef bint right_deletes(const StateC* s, int k) noexcept nogil:
    return deletes(s, item(s, k), s.b)


# SHIFT: (L1, L2, j|B, A) => (L1.L2|j, [], B, A). The pending arcs between j and lambda1 are lost.

cdef bint can_shift(const StateC* s, int k) noexcept nogil:
    return s.b < s.n and not must_break(s)


cdef void do_shift(StateC* s, int k, int l, int push_label) noexcept nogil:
    s.b += 1
    s.n_lambda1 = n_items(s)


# NO-ARC: (L1|i, L2, B, A) => (L1, i|L2, B, A). A pending arc between i and j is lost.

cdef bint can_skip(const StateC* s, int k) noexcept nogil:
    return s.b < s.n and s.n_lambda1 > 0 and not must_break(s)


cdef void do_skip(StateC* s, int k, int l, int push_label) noexcept nogil:
    s.n_lambda1 -= 1


# LEFT-ARC(k, l): (L1|i_k|..|i_1, L2, j|B, A) => (L1, i_k|..|i_1.L2, j|B, A + j -l-> i_k). i_k is
# not ROOT, has no head, and not i_k ->* j. Non-monotonic: any word i_k; A loses the old arc into
# i_k, and the arc into j if i_k ->* j. i_k loses a pending arc from elsewhere; those between j and
# i_k .. i_1 are lost.

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil:
    cdef int i
    if s.b >= s.n or s.n_lambda1 < k or must_break(s):
        return False
    i = item(s, k)
    if i == s.n or is_too_long(s, i):
        return False
    return s.system.nonmonotonic or (s.head[i] == NONE and treetop(s, s.b) != i)


cdef void do_left_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    add_arc(s, s.b, item(s, k), l)
    s.n_lambda1 -= k


# RIGHT-ARC(k, l): (L1|i_k|..|i_1, L2, j|B, A) => (L1, i_k|..|i_1.L2, j|B, A + i_k -l-> j). j has no
# head, and not j ->* i_k. single_root: not from ROOT if it has a child in the sentence.
# Non-monotonic: A loses the old arc into j, and the arc into i_k if j ->* i_k. j loses a pending
# arc from elsewhere; those between j and i_k .. i_1 are lost.

cdef bint can_right_arc(const StateC* s, int k) noexcept nogil:
    cdef int i
    if s.b >= s.n or s.n_lambda1 < k or must_break(s):
        return False
    if not s.system.nonmonotonic and s.head[s.b] != NONE:
        return False
    i = item(s, k)
    if i == s.n:
        return not s.system.single_root or not root_has_child(s)
    if is_too_long(s, i):
        return False
    return s.system.nonmonotonic or treetop(s, i) != s.b


cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    add_arc(s, item(s, k), s.b, l)
    s.n_lambda1 -= k


# BREAK: (L1, [], B, A) => ([], [], B, A), with explicit_root ([ROOT], [], B, A). There is a word in
# L1, and j may start a sentence. The pending arcs between lambda1 and the buffer are lost; an
# invented start is an error, too.

cdef void do_break(StateC* s, int k, int l, int push_label) noexcept nogil:
    s.sentence_start[s.b] = 1
    s.start = s.b
    s.n_lambda1 = s.root_first


# The static oracle.

cdef int wanted_move(
    const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil:
    """BREAK where gold does; else the shortest pending gold arc of j (the local system: NO-ARC
    until there); else SHIFT."""
    cdef int nearest = NONE
    cdef int wanted = SHIFT
    cdef int i, k
    if gold_breaks(s, gold):
        wanted = BREAK
    elif s.b < s.n:
        for k in range(1, s.n_lambda1 + 1):
            i = item(s, k)
            if i == s.n:
                if gold.head[s.b] == s.n and can_right_arc(s, k):
                    wanted, nearest = RIGHT_ARC, k
            elif gold.head[i] == s.b and can_left_arc(s, k):
                wanted, nearest = LEFT_ARC, k
                break
            elif gold.head[s.b] == i and can_right_arc(s, k):
                wanted, nearest = RIGHT_ARC, k
                break
    if nearest > 1 and not is_non_local(s.system):
        wanted, nearest = NO_ARC, 1
    return find_move(s, candidates, n, wanted, 1 if nearest == NONE else nearest)


cdef inline bint is_non_local(const SystemC* system) noexcept nogil:
    """Whether arcs are non-local."""
    return system.moves[1].name != NO_ARC


cdef void start(StateC* s) noexcept nogil:
    s.lists = 1
    s.extended = 1
    s.root_first = s.system.explicit_root
    s.n_lambda1 = s.root_first
    s.root_label = s.system.root_label
    s.one_root = s.system.single_root


PARTS = {
    "lambda1": "Items before the first word of the buffer that can still get an arc with it, the "
    "nearest one last.",
    "lambda2": "Words that moves have already passed on the way from the first word of the buffer "
    "to the left. SHIFT puts them back into λ1.",
    "buffer": "The words to come. Arcs are made with the first of them.",
    "SHIFT": "The first word of the buffer gets no more arcs with words before it: λ2 and then "
    "this word are appended to λ1, and the next word is first.",
    "BREAK": "The sentence ends before the first word of the buffer, and the next one starts "
    "there, with new lists.",
}
LOCAL = {
    "NO-ARC": "There is no arc between the last item of λ1 and the first word of the buffer: that "
    "item goes to the front of λ2.",
    "LEFT-ARC": "The first word of the buffer becomes the head of the last word of λ1, which goes "
    "to the front of λ2.",
    "RIGHT-ARC": "The last item of λ1 becomes the head of the first word of the buffer, and goes "
    "to the front of λ2.",
}
COUNTED = (
    " The item and all behind it go to the front of λ2. The number in the move's name is k; "
    "without a number, k is 1."
)
NON_LOCAL = {
    "LEFT-ARC": "The first word of the buffer becomes the head of the k-th item of λ1, counted "
    f"from the end.{COUNTED}",
    "RIGHT-ARC": "The k-th item of λ1, counted from the end, becomes the head of the first word of "
    f"the buffer.{COUNTED}",
}
MONOTONIC = " Only a word without a head can be the dependent, and the arc must not close a cycle."
DELETES = (
    " If the dependent has a head, that arc is deleted; if the new arc closes a cycle, so is the "
    "arc to its head."
)


cdef class Covington(TransitionSystem):
    """Covington's system: arcs between the focus words, NO-ARC moves on to the next pair.

    Args:
        nonmonotonic: arcs may replace arcs and break cycles.
        explicit_root: ROOT is the first item of lambda1, so that arcs from ROOT are moves. Without:
            headless words of a final configuration hang off ROOT, labelled root_label.
        max_length: words further apart get no arc (0: no limit). Longer gold arcs are given up
            from the start: they cost the same whatever is done.
        **options: those of every system. Without ``explicit_root``, ``root_label`` None means that
            arcs from ROOT have no label, and labels of gold roots are not judged.
    """
    def __init__(
        self, labels=None, *, bint nonmonotonic=False, bint explicit_root=False,
        int max_length=0, **options
    ):
        cdef bint non_local = isinstance(self, NonLocalCovington)
        cdef next_k_t next_k = next_item if non_local else <next_k_t>NULL
        cdef MoveC* move
        if max_length < 0:
            raise ValueError(f"max_length must be 1 or more, or 0 (no limit), not {max_length}.")
        self.begin("nl_covington" if non_local else "covington", options, {
            "nonmonotonic": bool(nonmonotonic),
            "explicit_root": bool(explicit_root),
            "max_length": max_length,
        })
        self.texts = {**PARTS, **(NON_LOCAL if non_local else LOCAL)}
        if explicit_root:
            self.texts["lambda1"] += " The first one is ROOT."
            self.texts["LEFT-ARC"] += " ROOT takes no head."
        for arc in ("LEFT-ARC", "RIGHT-ARC"):
            self.texts[arc] += DELETES if nonmonotonic else MONOTONIC
            if max_length:
                self.texts[arc] += f" The two words are at most {max_length} apart."
        if explicit_root and self.c.single_root:
            self.texts["RIGHT-ARC"] += " ROOT takes one child in each sentence."
        self.c.headless = True
        self.c.one_focus = True
        self.c.max_length = max_length
        self.c.nonmonotonic = nonmonotonic
        self.c.explicit_root = explicit_root
        self.c.start = start
        self.c.loss = list_loss
        self.c.costs = list_costs
        use_static(&self.c, wanted_move)
        self.add_move(SHIFT, can_shift, do_shift, NULL, NULL)
        self.c.shift = self.c.n_moves - 1
        if not non_local:
            self.add_move(NO_ARC, can_skip, do_skip, NULL, NULL)
        move = self.add_move(
            LEFT_ARC, can_left_arc, do_left_arc, NULL, NULL, focus_end, item_end, next_k
        )
        move.crossing = CROSSES_BY_ARC
        move.is_repair = left_deletes
        self.c.left_arc = self.c.n_moves - 1
        move = self.add_move(
            RIGHT_ARC, can_right_arc, do_right_arc, NULL, NULL, item_end, focus_end, next_k
        )
        move.crossing = CROSSES_BY_ARC
        move.is_repair = right_deletes
        self.c.right_arc = self.c.n_moves - 1
        self.add_break(can_break, do_break, NULL, NULL)


cdef class NonLocalCovington(Covington):
    """Covington's system with non-local arcs: any item of lambda1 is one move away.

    Its options are those of ``Covington``.
    """
