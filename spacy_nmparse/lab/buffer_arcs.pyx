"""Arc-standard with arcs between the top of the stack and the front of the buffer (Eisenstein 2019,
section 11.3): the option ``buffer_arcs`` of ``arc_standard``.

It is arc_standard.pyx, one SHIFT behind: (S, b0|B, A) here is (S|b0, B, A) there. The same arcs
can be made, and the losses are the same, so tabular.pyx has them. Where only ROOT is on the stack
there, the next SHIFT is forced; it is none here. A SHIFT that would leave the buffer empty is
illegal: no stack word could get a head any more.

Final: the buffer is empty and the stack holds ROOT alone.
"""
from spacy_nmparse.systems.arc_eager cimport do_left_arc
from spacy_nmparse.systems.arc_standard cimport do_shift, is_complete
from spacy_nmparse.systems.candidates cimport rest_loss
from spacy_nmparse.systems.errors cimport least_error
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.moves cimport b0_end, root_at_bottom, s0_end
from spacy_nmparse.systems.sentences cimport finish
from spacy_nmparse.systems.state cimport NONE, B, S, StateC, pop, push, read, state_add_arc
from spacy_nmparse.systems.static cimport find_move, use_static
from spacy_nmparse.systems.table cimport (
    BREAK,
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
    CandidateC,
    MoveTable,
)
from spacy_nmparse.systems.tabular cimport tabular_rest
from spacy_nmparse.systems.views cimport ViewC, view


cdef inline int second(const StateC* s) noexcept nogil:
    """The first word behind b0: its number, or the end of the sentence."""
    return s.b if s.n_rebuffer > 0 else min(s.b + 1, s.end)


cdef inline bint may_break(const StateC* s) noexcept nogil:
    """Whether the sentence can end behind b0."""
    return (
        s.system.segment and B(s, 0) != NONE and second(s) < s.end
        and s.constraint[second(s)] != -1
    )


cdef inline bint must_break(const StateC* s) noexcept nogil:
    return may_break(s) and s.constraint[second(s)] == 1


cdef inline int missed_start(const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors of the moves by which the next word becomes b0."""
    return may_break(s) and gold.sent_start[second(s)] == 1


# Losses are those of arc_standard.pyx after the next SHIFT.

cdef ViewC behind_shift(const StateC* s) noexcept nogil:
    """The configuration there: b0 is on the stack."""
    cdef ViewC v = view(s)
    v.top = B(s, 0)
    v.b = second(s)
    v.has_left = False
    return v


cdef inline void next_word(const StateC* s, ViewC* v) noexcept nogil:
    """Let the next word be the top there."""
    v.top = B(s, 1)
    v.b += v.top != NONE


cdef int rest_here(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil:
    """Errors to come in the configuration itself."""
    cdef ViewC behind = behind_shift(s)
    return tabular_rest(s, gold, &behind)


# SHIFT: (S, b0|b1|B, A) => (S|b0, b1|B, A).

cdef bint can_shift(const StateC* s, int k) noexcept nogil:
    return B(s, 1) != NONE and not must_break(s)


cdef int shift_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef StateC pushed = s[0]  # over the same arrays: a view has but one word more than a state
    cdef ViewC v = behind_shift(s)
    cdef int errors
    next_word(s, &v)
    push(&pushed, B(s, 0))
    v.below += 1
    errors = missed_start(s, gold) + tabular_rest(&pushed, gold, &v)
    pop(&pushed)
    return errors


# LEFT-ARC(l): (S|s0, b0|B, A) => (S, b0|B, A + b0 -l-> s0). s0 is not ROOT.

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil:
    return s.n_stack > 1 and B(s, 0) != NONE and not must_break(s)


cdef int left_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = behind_shift(s)
    v.below -= 1
    return least_error(s, gold, B(s, 0), S(s, 0)) + tabular_rest(s, gold, &v)


# RIGHT-ARC(l): (S|s0, b0|B, A) => (S, s0|B, A + s0 -l-> b0); ROOT stays on the stack. single_root:
# from ROOT only when b0 is the last of the buffer.

cdef bint can_right_arc(const StateC* s, int k) noexcept nogil:
    if B(s, 0) == NONE or must_break(s):
        return False
    return s.n_stack > 1 or not s.system.single_root or B(s, 1) == NONE


cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int b0 = read(s)
    state_add_arc(s, S(s, 0), b0, l)
    if s.n_stack > 1:
        s.rebuffer[s.n_rebuffer] = pop(s)
        s.n_rebuffer += 1
    finish(s)


cdef int right_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = behind_shift(s)
    cdef int errors = least_error(s, gold, S(s, 0), B(s, 0))
    if S(s, 0) == s.n:
        next_word(s, &v)
        errors += missed_start(s, gold)
    else:
        v.below -= 1
        v.top = S(s, 0)
    return errors + tabular_rest(s, gold, &v)


# BREAK: (S, b0|B, A) => (S, [b0], A), and B waits for the fresh configuration that starts when the
# stack is ROOT alone. The first word of B has never been read.

cdef bint can_break(const StateC* s, int k) noexcept nogil:
    return may_break(s)


cdef void do_break(StateC* s, int k, int l, int push_label) noexcept nogil:
    s.end = second(s)
    s.sentence_start[s.end] = 1


cdef int break_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = behind_shift(s)
    v.closed = True
    return (gold.sent_start[v.b] == 0) + tabular_rest(s, gold, &v)


# The loss.

cdef int loss(const StateC* s, const GoldC* gold) noexcept nogil:
    """The errors that are made and to come. A start at b0 is missed once b0 is at the front."""
    cdef int missed = 0
    if s.system.segment and s.n_rebuffer == 0 and s.start < s.b < s.end:
        missed = gold.sent_start[s.b] == 1
    return missed + rest_loss(s, gold)


# The static oracle.

cdef int wanted_move(
    const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil:
    """BREAK where gold does; else the gold arc between s0 and b0 if the dependent has its own
    dependents; else SHIFT."""
    cdef int s0 = S(s, 0)
    cdef int b0 = B(s, 0)
    cdef int name = SHIFT
    if missed_start(s, gold):
        name = BREAK
    elif s0 != s.n and gold.head[s0] == b0 and is_complete(s, gold, s0):
        name = LEFT_ARC
    elif gold.head[b0] == s0 and is_complete(s, gold, b0):
        name = RIGHT_ARC
    return find_move(s, candidates, n, name, 1)


TEXTS = {
    "stack": "Words that were read and have no head yet; ROOT is at the bottom. Arcs are made "
    "between the top, the last one shown, and the first word of the buffer.",
    "buffer": "The words to come, the next one first, which may have dependents.",
    "SHIFT": "The first word of the buffer goes onto the stack. The last word of a sentence stays "
    "in the buffer until it has a head.",
    "LEFT-ARC": "The first word of the buffer becomes the head of the top of the stack, which "
    "leaves the stack. ROOT takes no head.",
    "RIGHT-ARC": "The top of the stack becomes the head of the first word of the buffer, and takes "
    "its place there. ROOT stays on the stack. With single_root, ROOT gets its child when "
    "that is the last word of the buffer.",
    "BREAK": "The sentence ends behind the first word of the buffer, and the next one starts as "
    "soon as all words before that end have a head.",
}


cdef class BufferArcStandard(MoveTable):
    """Arc-standard with arcs between the top of the stack and the front of the buffer.

    Args:
        buffer_arcs: True: that is this form.
        **options: those of every system.
    """
    def __init__(self, labels=None, *, bint buffer_arcs=True, **options):
        self.begin("arc_standard", options, {"buffer_arcs": True})
        self.texts = TEXTS
        self.c.projective = True
        self.c.start = root_at_bottom
        self.c.breaks_behind = True
        self.c.rest = rest_here
        self.c.loss = loss
        use_static(&self.c, wanted_move)
        self.add_move(SHIFT, can_shift, do_shift, NULL, shift_rest)
        self.add_move(LEFT_ARC, can_left_arc, do_left_arc, NULL, left_arc_rest, b0_end, s0_end)
        self.add_move(RIGHT_ARC, can_right_arc, do_right_arc, NULL, right_arc_rest, s0_end, b0_end)
        self.add_break(can_break, do_break, NULL, break_rest)

    @property
    def lookahead(self):
        """As ``TransitionSystem.lookahead``."""
        return 2

    def _form(self):
        return "arc_standard with buffer_arcs"
