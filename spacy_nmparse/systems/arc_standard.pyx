"""The arc-standard system (Nivre 2004).

A configuration is (stack, buffer, arcs); ROOT is the bottom of the stack. S0, S1 are the topmost
stack items, B0 the first buffer item. Arcs are made between S0 and S1, and the dependent leaves the
stack: so a word is attached after its own dependents, and a word without a head is on the stack or
in the buffer. Final: the buffer is empty and the stack holds ROOT alone.

Loss: no closed form is known. tabular.pyx has it by dynamic programming (Goldberg, Sartorio & Satta
2014); a cost is the difference of two losses. tests/exhaustive.py compares both with search over
all small trees and all configurations.
"""
from spacy_nmparse.systems.state cimport NONE, B, S, pop, push, read, state_add_arc
from spacy_nmparse.systems.system cimport (
    BREAK,
    LEARN_ANY,
    LEARN_LABEL,
    LEARN_NOT,
    LEFT_ARC,
    MAX_MOVES,
    RIGHT_ARC,
    SHIFT,
    STATIC,
    legal_moves,
)
from spacy_nmparse.systems.tabular cimport ViewC, rest, view


cdef int s0_end(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return S(s, 0)


cdef int s1_end(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return S(s, 1)


cdef inline void finish(StateC* s) noexcept nogil:
    """If the sentence that BREAK has closed is complete, a fresh one starts behind it."""
    if s.n_stack == 1 and s.n_rebuffer == 0 and s.b == s.end and s.end < s.n:
        s.start = s.end
        s.end = s.n


cdef int rest_after(
    const SystemC* system, const StateC* s, const GoldC* gold, int move
) noexcept nogil:
    """Errors to come after the named move, and what it does wrong itself, but for labels."""
    cdef ViewC v = view(s)
    cdef int errors = 0
    if move == SHIFT:
        errors = may_break(system, s) and gold.sent_start[s.b] == 1
        v.top = B(s, 0)
        v.b += 1
    elif move == LEFT_ARC:
        errors = least_error(system, gold, S(s, 0), S(s, 1))
        v.below -= 2
        v.top = S(s, 0)
    elif move == RIGHT_ARC:
        errors = least_error(system, gold, S(s, 1), S(s, 0))
        v.below -= 1
    elif move == BREAK:
        errors = gold.sent_start[s.b] == 0
        v.closed = True
    return errors + rest(system, s, gold, &v)


cdef int best_rest(const SystemC* system, const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors to come: those after the best move. On crossing gold that is nearer to the truth than
    the configuration's own table."""
    cdef CandidateC[MAX_MOVES] candidates
    cdef ViewC v = view(s)
    cdef int n = legal_moves(system, s, candidates)
    cdef int least = NONE
    cdef int i, errors
    if n == 0:
        return rest(system, s, gold, &v)
    for i in range(n):
        errors = rest_after(system, s, gold, system.moves[candidates[i].move].name)
        least = errors if least == NONE else min(least, errors)
    return least


# SHIFT: (S, b0|B, A) => (S|b0, B, A).

cdef bint can_shift(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return B(s, 0) != NONE and not must_break(system, s)


cdef void do_shift(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int b0 = read(s)
    s.push_label[b0] = push_label
    push(s, b0)


cdef int shift_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """Heads of, and from, S0 and what is beneath it, that had to be got before; a missed start."""
    return rest_after(system, s, gold, SHIFT) - best_rest(system, s, gold)


# LEFT-ARC(l): (S|s1|s0, B, A) => (S|s0, B, A + s0 -l-> s1). s1 is not ROOT.

cdef bint can_left_arc(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return s.n_stack > 2 and not must_break(system, s)


cdef void do_left_arc(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil:
    cdef int s0 = pop(s)
    state_add_arc(s, s0, pop(s), l)
    push(s, s0)


cdef int left_arc_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """s1 loses a head other than s0, and the dependents that it could still get."""
    return (
        rest_after(system, s, gold, LEFT_ARC) - best_rest(system, s, gold)
        + label_error(system, gold, S(s, 0), S(s, 1), label)
    )


# RIGHT-ARC(l): (S|s1|s0, B, A) => (S|s1, B, A + s1 -l-> s0). single_root: from ROOT only when the
# buffer is empty.

cdef bint can_right_arc(const SystemC* system, const StateC* s, int k) noexcept nogil:
    if s.n_stack < 2 or must_break(system, s):
        return False
    return s.n_stack > 2 or not system.single_root or B(s, 0) == NONE


cdef void do_right_arc(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil:
    cdef int s0 = pop(s)
    state_add_arc(s, S(s, 0), s0, l)
    finish(s)


cdef int right_arc_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """s0 loses a head other than s1, and the dependents that it could still get."""
    return (
        rest_after(system, s, gold, RIGHT_ARC) - best_rest(system, s, gold)
        + label_error(system, gold, S(s, 1), S(s, 0), label)
    )


# BREAK: (S, b0|B, A) => (S, [], A), and b0|B waits for the fresh configuration that starts when S
# is ROOT alone. The sentence has a word, and b0 has never been read.

cdef bint can_break(const SystemC* system, const StateC* s, int k) noexcept nogil:
    return may_break(system, s)


cdef void do_break(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil:
    s.sentence_start[s.b] = 1
    s.end = s.b
    finish(s)


cdef int break_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil:
    """An invented start; and the gold arcs between the stack and the buffer."""
    return rest_after(system, s, gold, BREAK) - best_rest(system, s, gold)


# All costs of a configuration at once.

cdef void costs_of_rests(
    const SystemC* system, const GoldC* gold, CandidateC* candidates, int n
) noexcept nogil:
    """cost and cost_other, where cost holds what remains behind each candidate at best."""
    cdef int least = NONE
    cdef int i
    cdef CandidateC* c
    for i in range(n):
        least = candidates[i].cost if least == NONE else min(least, candidates[i].cost)
    for i in range(n):
        c = &candidates[i]
        c.cost -= least
        c.cost_other = c.cost + label_counts(system, gold, c.head, c.dependent)


cdef void fill_costs(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil:
    """cost and cost_other of each candidate, from one table each."""
    cdef int i
    for i in range(n):
        candidates[i].cost = rest_after(
            system, s, gold, system.moves[candidates[i].move].name
        )
    costs_of_rests(system, gold, candidates, n)


# The loss, from scratch: for tests and for the Python face.

cdef int settled(const SystemC* system, const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors that nothing can change any more."""
    cdef int errors = 0
    cdef int w
    for w in range(s.n):
        if s.head[w] != NONE:
            errors += arc_error(gold, s.head[w], w, s.label[w])
        if system.segment and w > 0 and (w < s.b or s.sentence_start[w]):
            errors += gold.sent_start[w] == (0 if s.sentence_start[w] else 1)
    return errors


cdef int arc_standard_loss(
    const SystemC* system, const StateC* s, const GoldC* gold
) noexcept nogil:
    return settled(system, s, gold) + best_rest(system, s, gold)


# Oracles beside the dynamic one.

cdef inline bint is_complete(const StateC* s, const GoldC* gold, int w) noexcept nogil:
    """Whether w has the gold dependents that wait for a head."""
    cdef int i
    for i in range(gold.child_offset[w], gold.child_offset[w + 1]):
        if s.head[gold.children[i]] == NONE:
            return False
    return True


cdef void learn_one(
    const SystemC* system, int wanted, CandidateC* candidates, int n
) noexcept nogil:
    """Learn the wanted move if nothing costs less, else the first cheapest."""
    cdef int i
    cdef int best = 0
    for i in range(1, n):
        if candidates[i].cost < candidates[best].cost:
            best = i
    for i in range(n):
        candidates[i].learn = LEARN_NOT
        if (
            system.moves[candidates[i].move].name == wanted
            and candidates[i].cost == candidates[best].cost
        ):
            best = i
    candidates[best].learn = LEARN_ANY if candidates[best].label == NONE else LEARN_LABEL


cdef void learn_canonical(
    const SystemC* system, const StateC* s, const GoldC* gold, int push_label,
    CandidateC* candidates, int n
) noexcept nogil:
    """The static oracle: BREAK where gold does; else the gold arc between S0 and S1 if the
    dependent has its own dependents; else SHIFT. If another move costs less: the first cheapest."""
    cdef int s0 = S(s, 0)
    cdef int s1 = S(s, 1)
    cdef int wanted = SHIFT
    if may_break(system, s) and gold.sent_start[s.b] == 1:
        wanted = BREAK
    elif s.n_stack > 2 and gold.head[s1] == s0 and is_complete(s, gold, s1):
        wanted = LEFT_ARC
    elif s.n_stack > 1 and gold.head[s0] == s1 and is_complete(s, gold, s0):
        wanted = RIGHT_ARC
    learn_one(system, wanted, candidates, n)


cdef void start(const SystemC* system, StateC* s) noexcept nogil:
    push(s, s.n)


cdef class ArcStandard(TransitionSystem):
    """The arc-standard system.

    Options:
        single_root: one child of ROOT in each sentence.
        segment: BREAK splits documents into sentences.
        root_label: the label that arcs from ROOT, and they alone, take (None: any label).
    """
    def __init__(
        self, labels=None, *, bint single_root=False, bint segment=False, root_label=None
    ):
        self.begin(self._name(), {
            "single_root": bool(single_root),
            "segment": bool(segment),
            "root_label": root_label,
        })
        self.c.start = start
        self._add_moves()

    def _name(self):
        return "arc_standard"

    def _add_moves(self):
        self.c.projective = True
        self.c.loss = arc_standard_loss
        self.c.costs = fill_costs
        self.c.oracles[STATIC] = learn_canonical
        self.add_move(SHIFT, can_shift, do_shift, shift_cost)
        self.add_move(LEFT_ARC, can_left_arc, do_left_arc, left_arc_cost, s0_end, s1_end)
        self.add_move(RIGHT_ARC, can_right_arc, do_right_arc, right_arc_cost, s1_end, s0_end)
        if self.c.segment:
            self.add_move(BREAK, can_break, do_break, break_cost).ends_sentence = True
