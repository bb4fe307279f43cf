"""The arc-standard system (Nivre 2004).

A configuration is (stack, buffer, arcs); ROOT is the bottom of the stack. S0, S1 are the topmost
stack items, B0 the first buffer item. Arcs are made between S0 and S1, and the dependent leaves the
stack: so a word is attached after its own dependents, and a word without a head is on the stack or
in the buffer. Final: the buffer is empty and the stack holds ROOT alone.

Loss: no closed form is known. tabular.pyx has it by dynamic programming (Goldberg, Sartorio & Satta
2014); a cost is the difference of two losses. tests/exhaustive.py compares both with search over
all small trees and all configurations.
"""
from spacy_nmparse.systems.errors cimport least_error
from spacy_nmparse.systems.moves cimport root_at_bottom, s0_end, s1_end
from spacy_nmparse.systems.sentences cimport can_break, finish, gold_breaks, must_break
from spacy_nmparse.systems.sentences cimport do_break as end_sentence
from spacy_nmparse.systems.state cimport B, S, pop, push, read, state_add_arc
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


# SHIFT: (S, b0|B, A) => (S|b0, B, A). Lost are heads of, and from, S0 and what is beneath it, that
# had to be got before; a missed start.

cdef bint can_shift(const StateC* s, int k) noexcept nogil:
    return B(s, 0) != NONE and not must_break(s)


cdef void do_shift(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int b0 = read(s)
    s.push_label[b0] = push_label
    push(s, b0)


cdef int shift_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    v.top = B(s, 0)
    v.b += 1
    return gold_breaks(s, gold) + tabular_rest(s, gold, &v)


# LEFT-ARC(l): (S|s1|s0, B, A) => (S|s0, B, A + s0 -l-> s1). s1 is not ROOT. s1 loses a head other
# than s0, and the dependents that it could still get.

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil:
    return s.n_stack > 2 and not must_break(s)


cdef void do_left_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int s0 = pop(s)
    state_add_arc(s, s0, pop(s), l)
    push(s, s0)


cdef int left_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    v.below -= 2
    v.top = S(s, 0)
    return least_error(s, gold, S(s, 0), S(s, 1)) + tabular_rest(s, gold, &v)


# RIGHT-ARC(l): (S|s1|s0, B, A) => (S|s1, B, A + s1 -l-> s0). single_root: from ROOT only when the
# buffer is empty. s0 loses a head other than s1, and the dependents that it could still get.

cdef bint can_right_arc(const StateC* s, int k) noexcept nogil:
    if s.n_stack < 2 or must_break(s):
        return False
    return s.n_stack > 2 or not s.system.single_root or B(s, 0) == NONE


cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil:
    cdef int s0 = pop(s)
    state_add_arc(s, S(s, 0), s0, l)
    finish(s)


cdef int right_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    v.below -= 1
    return least_error(s, gold, S(s, 1), S(s, 0)) + tabular_rest(s, gold, &v)


# BREAK: (S, b0|B, A) => (S, [], A), and b0|B waits for the fresh configuration that starts when S
# is ROOT alone. The sentence has a word, and b0 has never been read. Lost are the gold arcs between
# the stack and the buffer; an invented start is an error, too.

cdef void do_break(StateC* s, int k, int l, int push_label) noexcept nogil:
    end_sentence(s, k, l, push_label)
    finish(s)


cdef int break_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    v.closed = True
    return (gold.sent_start[s.b] == 0) + tabular_rest(s, gold, &v)


# The static oracle.

cdef int wanted_move(
    const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil:
    """BREAK where gold does; else the gold arc between S0 and S1 if the dependent has its own
    dependents; else SHIFT."""
    cdef int s0 = S(s, 0)
    cdef int s1 = S(s, 1)
    cdef int name = SHIFT
    if gold_breaks(s, gold):
        name = BREAK
    elif s.n_stack > 2 and gold.head[s1] == s0 and is_complete(s, gold, s1):
        name = LEFT_ARC
    elif s.n_stack > 1 and gold.head[s0] == s1 and is_complete(s, gold, s0):
        name = RIGHT_ARC
    return find_move(s, candidates, n, name, 1)


TEXTS = {
    "stack": "Words that were read and have no head yet; ROOT is at the bottom. Arcs are made "
    "between the two on top, the last ones shown.",
    "buffer": "The words to come, the next one first.",
    "SHIFT": "The first word of the buffer goes onto the stack.",
    "LEFT-ARC": "The top of the stack becomes the head of the word beneath it, which leaves the "
    "stack. ROOT takes no head.",
    "RIGHT-ARC": "The item beneath the top of the stack becomes the head of the top, which leaves "
    "the stack. With single_root, ROOT gets its child when the buffer is empty.",
    "BREAK": "The sentence ends before the first word of the buffer, where the next one starts as "
    "soon as all words on the stack have a head.",
}


cdef class ArcStandard(MoveTable):
    """The arc-standard system. Its options are those of every system."""
    def __init__(self, labels=None, **options):
        self.begin("arc_standard", options)
        self.texts = TEXTS
        self.c.projective = True
        self.c.start = root_at_bottom
        self.c.rest = tabular_rest
        use_static(&self.c, wanted_move)
        self.add_move(SHIFT, can_shift, do_shift, NULL, shift_rest)
        self.add_move(LEFT_ARC, can_left_arc, do_left_arc, NULL, left_arc_rest, s0_end, s1_end)
        self.add_move(RIGHT_ARC, can_right_arc, do_right_arc, NULL, right_arc_rest, s1_end, s0_end)
        self.add_break(can_break, do_break, NULL, break_rest)
