"""The list systems: Covington (2001; Nivre 2008) and NL-Covington (Fernández-González &
Gómez-Rodríguez 2018), monotonic and non-monotonic.

A configuration is (lambda1, lambda2, buffer, arcs). i is the last item of lambda1, j the first word
of the buffer: the focus words. Start: empty lists (``explicit_root``: ROOT in lambda1), all words
in the buffer. End: an empty buffer. Words without a head then hang off ROOT. Moves of the non-local
system reach any item of lambda1: i_k is the k-th from the right, i = i_1.

Cycles. The monotonic systems keep the words of a tree together in a union-find set (headless.pyx):
h -> d is legal iff d has no head and h is not in d's set. The non-monotonic systems delete arcs, so
they cannot keep such sets, and need none: every arc is legal. Only when h -> d is made, they climb
the heads from h to see whether it closes a cycle; if it does, the arc into h is deleted.

Losses are in ``loss``, all costs of a configuration at once in ``costs``.
"""
from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.covington.costs cimport list_costs
from spacy_nmparse.systems.covington.lists cimport (
    N_ARRAYS,
    N_LAMBDA1,
    ListC,
    gold_breaks,
    item,
    may_break,
    must_break,
    n_items,
    options,
)
from spacy_nmparse.systems.covington.loss cimport list_loss
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.headless cimport join, treetop
from spacy_nmparse.systems.state cimport (
    NONE,
    StateC,
    is_above,
    root_child,
    state_add_arc,
    state_del_arc,
    words_alike,
)
from spacy_nmparse.systems.static cimport find_move, use_static
from spacy_nmparse.systems.table cimport (
    BREAK,
    CROSSES_BY_ARC,
    LEFT_ARC,
    NO_ARC,
    RIGHT_ARC,
    SHIFT,
    CandidateC,
    MoveC,
    SystemC,
    MoveTable,
    next_k_t,
)

from spacy_nmparse.systems.headless import first_label, hang
from spacy_nmparse.systems.parts import ROOT, Items
from spacy_nmparse.systems.reach import within


cdef int item_end(const StateC* s, int k) noexcept nogil:
    return item(s, k)


cdef int focus_end(const StateC* s, int k) noexcept nogil:
    return s.b


cdef inline bint is_too_long(const StateC* s, int i) noexcept nogil:
    """Whether no arc may be made between i and j. Those from ROOT are of no length."""
    return options(s).max_length > 0 and i != s.n and s.b - i > options(s).max_length


cdef int next_item(const StateC* s, int k) noexcept nogil:
    """The k of the next item of lambda1 that is near enough: behind the near words, ROOT."""
    k += 1
    if k > s.numbers[N_LAMBDA1]:
        return NONE
    if not is_too_long(s, item(s, k)):
        return k
    return s.numbers[N_LAMBDA1] if s.system.explicit_root else NONE


cdef void add_arc(StateC* s, int head, int dependent, int label) noexcept nogil:
    """A + head -> dependent, in place of dependent's old arc, without the arc into head if that
    closes a cycle now."""
    if s.system.nonmonotonic:
        state_del_arc(s, dependent)
        if is_above(s, dependent, head):  # a cycle
            state_del_arc(s, head)
    elif head != s.n:
        join(s, head, dependent)
    state_add_arc(s, head, dependent, label)


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
    s.numbers[N_LAMBDA1] = n_items(s)


# NO-ARC: (L1|i, L2, B, A) => (L1, i|L2, B, A). A pending arc between i and j is lost.

cdef bint can_skip(const StateC* s, int k) noexcept nogil:
    return s.b < s.n and s.numbers[N_LAMBDA1] > 0 and not must_break(s)


cdef void do_skip(StateC* s, int k, int l, int push_label) noexcept nogil:
    s.numbers[N_LAMBDA1] -= 1


# LEFT-ARC(k, l): (L1|i_k|..|i_1, L2, j|B, A) => (L1, i_k|..|i_1.L2, j|B, A + j -l-> i_k). i_k is
# not ROOT, has no head, and not i_k ->* j. Non-monotonic: any word i_k; A loses the old arc into
# i_k, and the arc into j if i_k ->* j. i_k loses a pending arc from elsewhere; those between j and
# i_k .. i_1 are lost.

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil:
    cdef int i
    if s.b >= s.n or s.numbers[N_LAMBDA1] < k or must_break(s):
        return False
    i = item(s, k)
    if i == s.n or is_too_long(s, i):
        return False
    return s.system.nonmonotonic or (s.head[i] == NONE and treetop(s, s.b) != i)


cdef void do_left_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    add_arc(s, s.b, item(s, k), l)
    s.numbers[N_LAMBDA1] -= k


# RIGHT-ARC(k, l): (L1|i_k|..|i_1, L2, j|B, A) => (L1, i_k|..|i_1.L2, j|B, A + i_k -l-> j). j has no
# head, and not j ->* i_k. single_root: not from ROOT if it has a child in the sentence.
# Non-monotonic: A loses the old arc into j, and the arc into i_k if j ->* i_k. j loses a pending
# arc from elsewhere; those between j and i_k .. i_1 are lost.

cdef bint can_right_arc(const StateC* s, int k) noexcept nogil:
    cdef int i
    if s.b >= s.n or s.numbers[N_LAMBDA1] < k or must_break(s):
        return False
    if not s.system.nonmonotonic and s.head[s.b] != NONE:
        return False
    i = item(s, k)
    if i == s.n:
        return not s.system.single_root or root_child(s) == NONE
    if is_too_long(s, i):
        return False
    return s.system.nonmonotonic or treetop(s, i) != s.b


cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    add_arc(s, item(s, k), s.b, l)
    s.numbers[N_LAMBDA1] -= k


# BREAK: (L1, [], B, A) => ([], [], B, A), with explicit_root ([ROOT], [], B, A). There is a word in
# L1, and j may start a sentence. The pending arcs between lambda1 and the buffer are lost; an
# invented start is an error, too.

cdef void do_break(StateC* s, int k, int l, int push_label) noexcept nogil:
    s.sentence_start[s.b] = 1
    s.start = s.b
    s.numbers[N_LAMBDA1] = s.system.explicit_root


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
        for k in range(1, s.numbers[N_LAMBDA1] + 1):
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


cdef bint can_break(const StateC* s, int k) noexcept nogil:
    return may_break(s)


cdef int nth_item(const StateC* s, int k) noexcept nogil:
    return item(s, k) if k <= s.numbers[N_LAMBDA1] else NONE


cdef void list_start(StateC* s) noexcept nogil:
    s.n_own = N_ARRAYS
    s.numbers[N_LAMBDA1] = s.system.explicit_root


cdef bint list_alike(const StateC* a, const StateC* b, int first) noexcept nogil:
    return words_alike(a, b, first) and a.numbers[N_LAMBDA1] == b.numbers[N_LAMBDA1]


cdef void list_focus(StateC* s, int a, int b) noexcept nogil:
    """The later word is j, and all items before it are in lambda1."""
    s.b = max(a, b)
    s.numbers[N_LAMBDA1] = n_items(s)


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


cdef class ListSystem(MoveTable):
    """What both list systems share: see ``Covington``."""
    cdef ListC own

    cdef int fill(self, str name, next_k_t next_k, dict own, dict shared) except -1:
        """Make the system. next_k: of non-local arcs; NULL: arcs are local, and there is NO-ARC."""
        cdef MoveC* move
        if own["max_length"] < 0:
            raise ValueError(
                f"max_length must be 1 or more, or 0 (no limit), not {own['max_length']}."
            )
        self.begin(name, shared, own)
        self.texts = list_glossary(self.options, next_k is not NULL)
        self.own.max_length = own["max_length"]
        root = first_label(self.options["root_label"])
        self.own.root_label = NONE if root is None else self.label_ids[root]
        self.c.own = &self.own
        self.c.nonmonotonic = own["nonmonotonic"]
        self.c.explicit_root = own["explicit_root"]
        self.c.start = list_start
        self.c.alike = list_alike
        self.c.focus = list_focus
        self.c.item = nth_item
        self.c.loss = list_loss
        self.c.costs = list_costs
        use_static(&self.c, wanted_move)
        self.add_move(SHIFT, can_shift, do_shift, NULL, NULL)
        if next_k is NULL:
            self.add_move(NO_ARC, can_skip, do_skip, NULL, NULL)
        move = self.add_move(
            LEFT_ARC, can_left_arc, do_left_arc, NULL, NULL, focus_end, item_end, next_k
        )
        move.crossing = CROSSES_BY_ARC
        move.is_repair = left_deletes
        move = self.add_move(
            RIGHT_ARC, can_right_arc, do_right_arc, NULL, NULL, item_end, focus_end, next_k
        )
        move.crossing = CROSSES_BY_ARC
        move.is_repair = right_deletes
        self.add_break(can_break, do_break, NULL, NULL)
        return 0

    def parts(self, State state not None):
        """As ``TransitionSystem.parts``."""
        cdef int focus = state.c.start + state.c.numbers[N_LAMBDA1] - self.c.explicit_root
        root = (ROOT,) if self.c.explicit_root else ()
        passed = state.c.numbers[N_LAMBDA1] == 0    # ROOT, too, if it is an item
        focus = max(focus, state.c.start)
        return {
            "lambda1": Items(() if passed else root, range(state.c.start, focus)),
            "lambda2": Items(root if passed else (), range(focus, state.c.b)),
            "buffer": Items((), range(state.c.b, state.c.end)),
        }

    def within_reach(self, gold):
        """As ``TransitionSystem.within_reach``: without the arcs that are too long."""
        return within(gold, self.own.max_length) if self.own.max_length else (gold, 0)

    def hang_headless(self, heads, labels, starts):
        """As ``TransitionSystem.hang_headless``."""
        hang(heads, labels, starts, self.c.single_root, self.options["root_label"])


def list_glossary(chosen, non_local):
    """What ``TransitionSystem.glossary`` says of a list system with these options."""
    texts = {**PARTS, **(NON_LOCAL if non_local else LOCAL)}
    if chosen["explicit_root"]:
        texts["lambda1"] += " The first one is ROOT."
        texts["LEFT-ARC"] += " ROOT takes no head."
    for arc in ("LEFT-ARC", "RIGHT-ARC"):
        texts[arc] += DELETES if chosen["nonmonotonic"] else MONOTONIC
        if chosen["max_length"]:
            texts[arc] += f" The two words are at most {chosen['max_length']} apart."
    if chosen["explicit_root"] and chosen["single_root"]:
        texts["RIGHT-ARC"] += " ROOT takes one child in each sentence."
    return texts


cdef class Covington(ListSystem):
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
        self.fill("covington", NULL, {
            "nonmonotonic": nonmonotonic, "explicit_root": explicit_root, "max_length": max_length,
        }, options)


cdef class NonLocalCovington(ListSystem):
    """Covington's system with non-local arcs: any item of lambda1 is one move away.

    Its options are those of ``Covington``.
    """
    def __init__(
        self, labels=None, *, bint nonmonotonic=False, bint explicit_root=False,
        int max_length=0, **options
    ):
        self.fill("nl_covington", next_item, {
            "nonmonotonic": nonmonotonic, "explicit_root": explicit_root, "max_length": max_length,
        }, options)
