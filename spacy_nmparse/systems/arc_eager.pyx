"""The arc-eager system, monotonic and non-monotonic (Honnibal, Goldberg & Johnson 2013).

A configuration is (stack, buffer, arcs); ROOT is the last buffer item; final: the buffer is empty
and the stack holds ROOT alone. S0, S1 are the topmost stack items, B0 the first buffer item. Two
invariants hold everywhere: a stack item that has a head has the item right beneath it as its head,
and the bottom of the stack is headless. So no move can close a cycle.

Loss. On a projective gold tree, a word w with gold head g can still get it iff
  * the arc g -> w is built (with the right label); or
  * w is in the buffer, and g in the buffer or on the stack; or
  * w is on the stack and g in the buffer, and w is headless or LEFT-ARC is non-monotonic
    (single_root and g = ROOT: only the bottom of the stack); or
  * w is headless on the stack, g right beneath it, and REDUCE is non-monotonic (and will give the
    right label);
and all words that can, can together; loss = words that cannot, plus
  * single_root: of several gold roots that are each reachable in one sentence, all but one;
  * segment: each known sentence start that was missed or invented.
A cost is the difference that a move makes to these terms. Where gold arcs cross, the loss is a
lower bound.
"""
from spacy_nmparse.systems.arc_eager_exact cimport exact_cost, exact_loss, needs_exact, eager_rest
from spacy_nmparse.systems.arc_eager_options cimport (
    PUSH_ANY,
    PUSH_RIGHT_ARC,
    PUSH_SHIFT,
    eager,
)
from spacy_nmparse.systems.arc_eager_roots cimport (
    all_surplus_roots,
    bottom_is_root,
    more_surplus_roots,
    push_roots,
    start_errors,
)
from spacy_nmparse.systems.errors cimport label_ok
from spacy_nmparse.systems.gold cimport children_from
from spacy_nmparse.systems.moves cimport b0_end, can_shift, do_shift, never, root_last, s0_end
from spacy_nmparse.systems.sentences cimport can_break, do_break, gold_breaks, must_break
from spacy_nmparse.systems.state cimport (
    NONE,
    B,
    S,
    in_buffer,
    pop,
    read,
    state_add_arc,
    state_del_arc,
)
from spacy_nmparse.systems.state cimport push as push_word
from spacy_nmparse.systems.static cimport find_move, use_static
from spacy_nmparse.systems.table cimport (
    BREAK,
    LEFT_ARC,
    REDUCE,
    RIGHT_ARC,
    SHIFT,
    CandidateC,
    MoveC,
    no_arc,
)

from spacy_nmparse.systems.arc_eager_glossary import arc_eager_glossary


cdef inline bint reduce_adds_head(const StateC* s) noexcept nogil:
    """Whether REDUCE of a headless S0 is legal: it then attaches S0 to S1."""
    return s.n_stack >= 2 and (
        eager(s).nonmonotonic_reduce or (s.system.single_root and B(s, 0) == s.n)
    )


cdef inline bint recoverable(const StateC* s, const GoldC* gold, int w) noexcept nogil:
    """Whether w can still get its gold head (and label); False where the gold head is unknown."""
    cdef int g = gold.head[w]
    cdef int place = s.position[w]
    if g == NONE:
        return False
    if s.head[w] == g:
        return label_ok(gold, w, s.label[w])
    if place == NONE:
        if w >= s.end:  # a sentence after the one that BREAK has closed
            return g >= s.end
        return w >= s.b and (in_buffer(s, g) or s.position[g] != NONE)
    if in_buffer(s, g):
        if g == s.n and s.system.single_root:
            return place == 0
        return s.head[w] == NONE or s.system.nonmonotonic
    return (
        s.head[w] == NONE and place > 0 and s.stack[place - 1] == g
        and reduce_adds_head(s)
        and (eager(s).labelled_reduce or label_ok(gold, w, s.push_label[w]))
    )


cdef inline int lost_by_pop(const StateC* s, const GoldC* gold) noexcept nogil:
    """Gold dependents that S0 loses when it is popped: those in the buffer."""
    return children_from(gold, S(s, 0), s.b) if s.b < s.end else 0


cdef inline int lost_by_push(const StateC* s, const GoldC* gold) noexcept nogil:
    """Gold dependents that B0 loses when it is pushed: those on the stack that it could get."""
    cdef int b0 = B(s, 0)
    cdef int lost = 0
    cdef int i, child
    for i in range(gold.child_offset[b0], gold.child_offset[b0 + 1]):
        child = gold.children[i]
        if child >= b0:
            break
        if s.position[child] != NONE and (s.head[child] == NONE or s.system.nonmonotonic):
            lost += 1
    return lost


# SHIFT: (S, b0|B, A) => (S|b0, B, A). ROOT, and where RIGHT-ARC is the only push any word, only to
# an empty stack. Its effect is in ``moves``.

cdef bint can_shift_first(const StateC* s, int k) noexcept nogil:
    return s.n_stack == 0 and can_shift(s, k)


cdef int shift_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """b0 loses a head on the stack (not S0, when a non-monotonic REDUCE will add it), and the
    dependents on the stack."""
    cdef int b0 = B(s, 0)
    cdef int g, cost
    if needs_exact(s, gold):
        return exact_cost(s, gold, SHIFT, label, push_label)
    if b0 == s.n:
        return 0
    g = gold.head[b0]
    cost = lost_by_push(s, gold) + gold_breaks(s, gold)
    if g == s.n:
        cost += s.system.single_root and s.n_stack > 0
    elif g != NONE and s.position[g] != NONE:
        cost += not (
            eager(s).nonmonotonic_reduce and g == S(s, 0)
            and (eager(s).labelled_reduce or label_ok(gold, b0, push_label))
        )
    return cost + push_roots(s, gold)


# RIGHT-ARC(l): (S|s0, b0|B, A) => (S|s0|b0, B, A + s0 -l-> b0). Not of ROOT.

cdef bint can_right_arc(const StateC* s, int k) noexcept nogil:
    cdef int b0 = B(s, 0)
    return s.n_stack > 0 and b0 != NONE and b0 != s.n and not must_break(s)


cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int b0 = read(s)
    state_add_arc(s, S(s, 0), b0, l)
    s.push_label[b0] = push_label
    push_word(s, b0)


cdef int right_arc_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """b0 loses a head other than S0 (in the buffer: not when LEFT-ARC is non-monotonic), and the
    dependents on the stack."""
    cdef int b0 = B(s, 0)
    cdef int g = gold.head[b0]
    cdef int cost
    if needs_exact(s, gold):
        return exact_cost(s, gold, RIGHT_ARC, label, push_label)
    cost = lost_by_push(s, gold) + gold_breaks(s, gold)
    if g == s.n:
        cost += s.system.single_root or not s.system.nonmonotonic
    elif g == S(s, 0):
        cost += not label_ok(gold, b0, label)
    elif g != NONE and in_buffer(s, g):
        cost += not s.system.nonmonotonic
    elif g != NONE and s.position[g] != NONE:
        cost += 1
    return cost + push_roots(s, gold)


# LEFT-ARC(l): (S|s0, b0|B, A) => (S, b0|B, A - (h -> s0) + b0 -l-> s0). s0 headless, unless
# nonmonotonic_left. single_root: from ROOT only to the last stack item.

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil:
    cdef int b0 = B(s, 0)
    if s.n_stack == 0 or b0 == NONE or must_break(s):
        return False
    if s.head[S(s, 0)] != NONE and not s.system.nonmonotonic:
        return False
    return b0 != s.n or not s.system.single_root or s.n_stack == 1


cdef void do_left_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int s0 = pop(s)
    state_del_arc(s, s0)
    state_add_arc(s, B(s, 0), s0, l)


cdef int left_arc_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """s0 loses a head other than b0, and its dependents in the buffer."""
    cdef int s0 = S(s, 0)
    cdef int b0 = B(s, 0)
    cdef int cost
    if needs_exact(s, gold):
        return exact_cost(s, gold, LEFT_ARC, label, push_label)
    cost = lost_by_pop(s, gold) + recoverable(s, gold, s0)
    if gold.head[s0] == b0:
        cost -= label_ok(gold, s0, label)
    if b0 != s.n:
        cost += gold_breaks(s, gold)
        cost += more_surplus_roots(s, gold, s.n_stack > 1 and bottom_is_root(s, gold), s.b, False)
    return cost


# REDUCE: (S|s0, B, A) => (S, B, A). s0 has a head; or (nonmonotonic_reduce; single_root and b0 is
# ROOT) s0 is headless and not alone: (S|s1|s0, B, A) => (S|s1, B, A + s1 -> s0), with the label
# noted when s0 was pushed, or (labelled_reduce) the action's.

cdef bint can_reduce(const StateC* s, int k) noexcept nogil:
    if s.n_stack == 0 or must_break(s) or B(s, 0) == NONE:
        return False
    return s.head[S(s, 0)] != NONE or reduce_adds_head(s)


cdef void do_reduce(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int s0 = pop(s)
    if s.head[s0] == NONE:
        state_add_arc(s, S(s, 0), s0, l if eager(s).labelled_reduce else s.push_label[s0])


cdef int reduce_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """s0 keeps the head that it has or gets: it loses another that it could get; and its
    dependents in the buffer."""
    cdef int s0 = S(s, 0)
    cdef int cost
    if needs_exact(s, gold):
        return exact_cost(s, gold, REDUCE, label, push_label)
    cost = lost_by_pop(s, gold) + recoverable(s, gold, s0)
    if s.head[s0] != NONE:
        cost -= s.head[s0] == gold.head[s0] and label_ok(gold, s0, s.label[s0])
    elif S(s, 1) == gold.head[s0]:
        cost -= label_ok(gold, s0, label if eager(s).labelled_reduce else s.push_label[s0])
    return cost


cdef int reduced_word(const StateC* s, int k) noexcept nogil:
    """The word that REDUCE gives a head, or NONE."""
    return S(s, 0) if s.head[S(s, 0)] == NONE else NONE


cdef bint s0_is_headless(const StateC* s, int k) noexcept nogil:
    return s.head[S(s, 0)] == NONE


cdef bint s0_is_headed(const StateC* s, int k) noexcept nogil:
    return s.head[S(s, 0)] != NONE


cdef inline bint reduce_takes_label(const StateC* s) noexcept nogil:
    return eager(s).labelled_reduce and s.head[S(s, 0)] == NONE


cdef int reduced_dependent(const StateC* s, int k) noexcept nogil:
    return S(s, 0) if reduce_takes_label(s) else NONE


cdef int reduced_head(const StateC* s, int k) noexcept nogil:
    return S(s, 1) if reduce_takes_label(s) else NONE


# BREAK: (S, b0|B, A) => (S, [ROOT], A), a fresh configuration over b0|B to follow; see sentences.

cdef int break_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """An invented start; and the gold arcs between stack and buffer."""
    cdef int cost = 0
    cdef int i, w, g
    if needs_exact(s, gold):
        return exact_cost(s, gold, BREAK, label, push_label)
    if gold.sent_start[s.b] == 0:
        cost += s.constraint[s.b] != 1  # a forced start was lost from the beginning
    if gold.sent_start[s.b] != 1:
        for i in range(s.n_stack):
            w = s.stack[i]
            g = gold.head[w]
            if g != NONE and g != s.n and g >= s.b and recoverable(s, gold, w):
                cost += 1
            cost += children_from(gold, w, s.b)
    return cost + more_surplus_roots(s, gold, False, s.b, False)


# The loss, from scratch: for tests and for the Python face.

cdef int arc_eager_loss(const StateC* s, const GoldC* gold) noexcept nogil:
    cdef int loss = 0
    cdef int w
    if needs_exact(s, gold):
        return exact_loss(s, gold)
    for w in range(s.n):
        loss += gold.head[w] != NONE and not recoverable(s, gold, w)
    return loss + start_errors(s, gold) + all_surplus_roots(s, gold)


# The static oracle.

cdef int wanted_move(
    const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil:
    """BREAK where gold does; else the gold arc between S0 and B0; else REDUCE if S0 has a head and
    B0 is ROOT or has a gold arc, either way, with a word beneath S0; else SHIFT."""
    cdef int s0 = S(s, 0)
    cdef int b0 = B(s, 0)
    cdef int name = SHIFT
    cdef int i, w
    if gold_breaks(s, gold):
        name = BREAK
    elif s0 != NONE and gold.head[s0] == b0 and can_left_arc(s, 1):
        name = LEFT_ARC
    elif s0 != NONE and b0 != s.n and gold.head[b0] == s0:
        name = RIGHT_ARC
    elif s0 != NONE and (
        s.head[s0] != NONE or (eager(s).push == PUSH_SHIFT and gold.head[s0] == S(s, 1))
    ):
        if b0 == s.n:
            name = REDUCE
        else:
            for i in range(s.n_stack - 1):
                w = s.stack[i]
                if gold.head[w] == b0 or gold.head[b0] == w:
                    name = REDUCE
    return find_move(s, candidates, n, name, 1)


PUSHES = {"any": PUSH_ANY, "shift": PUSH_SHIFT, "right_arc": PUSH_RIGHT_ARC}


cdef class ArcEager(MoveTable):
    """The arc-eager system.

    Args:
        nonmonotonic_left: LEFT-ARC may replace the head of S0 (HGJ13 section 3.1).
        nonmonotonic_reduce: REDUCE of a headless S0 attaches it to S1 (HGJ13 section 3.2), with
            the label noted when S0 was pushed.
        labelled_reduce: such a REDUCE takes its label as an action instead (HGJ13 footnote 2).
        push: "any"; "shift": words are SHIFTed, and arcs from words before them are left to REDUCE;
            "right_arc": every word that finds an S0 becomes its dependent, and LEFT-ARC replaces
            such arcs (HGJ13 section 4).
        **options: those of every system.

    Raises:
        ValueError: an unknown push, or options that it needs.
    """
    def __init__(
        self, labels=None, *, bint nonmonotonic_left=False, bint nonmonotonic_reduce=False,
        bint labelled_reduce=False, push="any", **options
    ):
        check_push(push, labels, nonmonotonic_left, nonmonotonic_reduce, labelled_reduce)
        self.begin("arc_eager", options, {
            "nonmonotonic_left": bool(nonmonotonic_left),
            "nonmonotonic_reduce": bool(nonmonotonic_reduce),
            "labelled_reduce": bool(labelled_reduce),
            "push": push,
        })
        self.texts = arc_eager_glossary(self.options)
        self.own.nonmonotonic_reduce = nonmonotonic_reduce
        self.own.labelled_reduce = labelled_reduce
        self.own.push = PUSHES[push]
        self.c.own = &self.own
        self.c.projective = True
        self.c.nonmonotonic = nonmonotonic_left
        self.c.start = root_last
        self.c.loss = arc_eager_loss
        self.c.rest = eager_rest
        use_static(&self.c, wanted_move)
        self.add_move(
            SHIFT, can_shift_first if push == "right_arc" else can_shift, do_shift, shift_cost, NULL
        ).notes_label = (nonmonotonic_reduce or self.c.single_root) and not labelled_reduce
        self._add_reduce()
        self.add_move(
            LEFT_ARC, can_left_arc, do_left_arc, left_arc_cost, NULL, b0_end, s0_end
        ).is_repair = s0_is_headed
        self.add_move(
            RIGHT_ARC, never if push == "shift" else can_right_arc, do_right_arc, right_arc_cost,
            NULL, s0_end, b0_end
        )
        if self.c.moves[0].notes_label:
            self.c.noted_arc = self.c.n_moves - 1
        self.add_form()
        self.add_break(can_break, do_break, break_cost, NULL)
        self.monotonic = self.c
        self.monotonic.nonmonotonic = False
        self.monotonic.own = &self.own_monotonic
        self.own_monotonic = self.own
        self.own_monotonic.nonmonotonic_reduce = False
        self.own.monotonic = &self.monotonic

    cdef int add_form(self) except -1:
        """Moves that a form adds, before BREAK; and what else it changes in the table."""
        return 0

    cdef int _add_reduce(self) except -1:
        cdef bint labelled = self.own.labelled_reduce
        cdef MoveC* move = self.add_move(
            REDUCE, can_reduce, do_reduce, reduce_cost, NULL,
            reduced_head if labelled else no_arc, reduced_dependent if labelled else no_arc,
        )
        move.attached = reduced_word
        move.is_repair = s0_is_headless
        return 0


def check_push(push, labels, left, reduces, labelled):
    """Raises ValueError where the option ``push`` is unknown, or others do not go with it."""
    if push not in PUSHES:
        raise ValueError(f"arc_eager: push is one of {tuple(PUSHES)}, not {push!r}.")
    if push == "any":
        return
    if push == "right_arc" and not left:
        raise ValueError("arc_eager: push='right_arc' needs nonmonotonic_left=True.")
    if push == "shift" and not (reduces and (labelled or labels is None)):
        raise ValueError(
            "arc_eager: push='shift' needs nonmonotonic_reduce=True, and, with labels, "
            "labelled_reduce=True: REDUCE makes all arcs that RIGHT-ARC would."
        )
