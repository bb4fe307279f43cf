"""Arc-eager with ROOT at the bottom of the stack (Nivre 2008; Eisenstein 2019, section 11.3): the
option ``root_first`` of ``arc_eager``.

Arcs from ROOT are RIGHT-ARCs, made when their dependent is read; arc_eager.pyx makes them at the
end of the sentence. A stack item that has a head has the item right beneath it as its head. Final:
the buffer is empty and the stack holds ROOT alone. Once the buffer is empty, no stack word can get
a head. So moves that leave one without a head there are illegal: SHIFT of the last word, and its
RIGHT-ARC over such a word. single_root: ROOT's child stays on the stack until the sentence is read,
as the head of what finds no other.

Loss. On a projective gold tree, a word w with gold head g can still get it iff the arc g -> w is
built (with the right label); or
  * w is in the buffer, and g in the buffer or on the stack (ROOT always is); or
  * w is on the stack without a head, and g in the buffer.
All words that can, can together, but for one thing. Let p be the lowest stack word without a head.
Some buffer word x must become its head. Before, nothing beneath p gets an arc; after, p, all above
it and all words before x are gone. Lost are the arcs between p, what is above it or before x, and x
or what is behind it, but for those from x. Heads beneath p of words before x would be lost, too;
but if x is the first such word, no arc that does not cross its own is lost. The loss is the least
over all x. Where ROOT must still get its only child, that is x: x loses another head
of its own, and the other gold roots lose ROOT.
"""
from spacy_nmparse.systems.arc_eager cimport do_left_arc, do_right_arc
from spacy_nmparse.systems.arc_standard cimport do_break, do_shift
from spacy_nmparse.systems.errors cimport can_be_right, is_lost, least_error
from spacy_nmparse.systems.gold cimport GoldC, far_end, last_child
from spacy_nmparse.systems.moves cimport b0_end, root_at_bottom, s0_end
from spacy_nmparse.systems.sentences cimport (
    errors_behind,
    finish,
    may_end,
    missed_start,
    must_break,
)
from spacy_nmparse.systems.sentences cimport may_break as at_start
from spacy_nmparse.systems.state cimport NONE, B, S, StateC, pop
from spacy_nmparse.systems.static cimport find_move, use_static
from spacy_nmparse.systems.table cimport (
    BREAK,
    LEFT_ARC,
    REDUCE,
    RIGHT_ARC,
    SHIFT,
    CandidateC,
    MoveTable,
)
from spacy_nmparse.systems.views cimport (
    ViewC,
    height,
    is_headed,
    place,
    push_in_view,
    stack_item,
    view,
)


cdef inline int lowest_headless(const StateC* s, const ViewC* v) noexcept nogil:
    """Where on the stack the lowest word without a head is, or NONE."""
    cdef int i
    for i in range(1, height(v)):
        if not is_headed(s, v, i):
            return i
    return NONE


cdef inline bint all_headed(const StateC* s) noexcept nogil:
    cdef ViewC v = view(s)
    return lowest_headless(s, &v) == NONE


cdef inline bint b0_is_last(const StateC* s) noexcept nogil:
    """Whether b0 must be the last word of its sentence."""
    return s.b + 1 == s.end or (s.system.segment and s.constraint[s.b + 1] == 1)


# SHIFT: (S, b0|B, A) => (S|b0, B, A). Not of the last word.

cdef bint can_shift(const StateC* s, int k) noexcept nogil:
    return B(s, 0) != NONE and not must_break(s) and not b0_is_last(s)


cdef int shift_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    push_in_view(s, &v, False)
    return missed_start(s, gold) + root_first_rest(s, gold, &v)


# RIGHT-ARC(l): (S|s0, b0|B, A) => (S|s0|b0, B, A + s0 -l-> b0). Of the last word only where all
# stack words have heads.

cdef bint can_right_arc(const StateC* s, int k) noexcept nogil:
    if B(s, 0) == NONE or must_break(s):
        return False
    return not b0_is_last(s) or all_headed(s)


cdef int right_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    cdef int errors = missed_start(s, gold) + least_error(s, gold, S(s, 0), B(s, 0))
    push_in_view(s, &v, True)
    return errors + root_first_rest(s, gold, &v)


# LEFT-ARC(l): (S|s0, b0|B, A) => (S, b0|B, A + b0 -l-> s0). s0 is a word without a head.

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil:
    return s.n_stack > 1 and s.head[S(s, 0)] == NONE and B(s, 0) != NONE and not must_break(s)


cdef int left_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    v.below -= 1
    v.has_left = True
    return least_error(s, gold, B(s, 0), S(s, 0)) + root_first_rest(s, gold, &v)


# REDUCE: (S|s0, B, A) => (S, B, A). s0 has a head. single_root: ROOT's child only when the buffer
# is empty.

cdef bint can_reduce(const StateC* s, int k) noexcept nogil:
    if s.n_stack < 2 or s.head[S(s, 0)] == NONE or must_break(s):
        return False
    return s.n_stack > 2 or not s.system.single_root or B(s, 0) == NONE


cdef void do_reduce(StateC* s, int k, int l, int push_label) noexcept nogil:
    pop(s)
    finish(s)


cdef int reduce_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    v.below -= 1
    return root_first_rest(s, gold, &v)


# BREAK: (S, b0|B, A) => (S, [], A), and b0|B waits for the fresh configuration that starts when the
# stack is ROOT alone. b0 has no dependents yet, and all stack words have heads.

cdef bint can_break(const StateC* s, int k) noexcept nogil:
    return at_start(s) and all_headed(s)


cdef int break_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    v.closed = True
    return (gold.sent_start[s.b] == 0) + root_first_rest(s, gold, &v)


# Losses.

cdef inline void between(int* change, int first, int last, int b, int e) noexcept nogil:
    """The arc is lost where x is one of first .. last: noted as the changes from one x to the
    next, for x from b on, up to e."""
    first = max(first, b)
    if first <= last:
        change[first - b] += 1
        change[min(last + 1, e) - b] -= 1


cdef int lost_to_heads(
    const StateC* s, const GoldC* gold, const ViewC* v, int p, int e
) noexcept nogil:
    """Gold arcs that could all be had, but that stack word p needs a head among the words from b to
    e; p is 0 where ROOT still needs its child."""
    cdef int* change = s.entry
    cdef int b = v.b
    cdef int first = max(p, 1)
    cdef int roots = 0
    cdef int least = NONE
    cdef int lost = 0
    cdef int i, w, g
    for i in range(e - b + 1):
        change[i] = 0
    for i in range(first, height(v)):
        w = stack_item(s, v, i)
        if not is_headed(s, v, i) and b <= gold.head[w] < e and can_be_right(s.system, gold, w):
            between(change, b, gold.head[w] - 1, b, e)
    for w in range(b, e):
        g = gold.head[w]
        if g == NONE or not can_be_right(s.system, gold, w):
            continue
        if g == gold.n:
            roots += 1
            if p == 0:  # kept where it is x itself
                change[w - b] -= 1
                change[w + 1 - b] += 1
            elif not s.system.single_root:
                between(change, w + 1, e - 1, b, e)
        elif w < g < e:
            between(change, w + (p > 0), g - 1, b, e)
        elif b <= g < w:
            between(change, g + 1, w, b, e)
        elif g < b and place(s, v, g) >= first:
            between(change, b, w, b, e)
    if p == 0:
        lost = roots
    for i in range(e - b):
        lost += change[i]
        least = lost if least == NONE else min(least, lost)
    return max(least, 0)


cdef int root_first_inner(
    const StateC* s, const GoldC* gold, const ViewC* v, int p, int e, int* forced
) noexcept nogil:
    """Words on the stack and from b to e that lose their gold head when the sentence ends at e.
    forced: how many of them because ROOT or stack word p (NONE: there is none) needs an arc."""
    cdef int n = gold.n
    cdef int lost = 0
    cdef int roots = 0      # that could be had
    cdef bint rooted = height(v) > 1 and is_headed(s, v, 1)
    cdef int i, w, g
    for w in range(v.b, e):
        g = gold.head[w]
        lost += is_lost(
            s, gold, w,
            g == n or v.b <= g < e or (0 <= g < v.b and place(s, v, g) != NONE),
        )
        roots += g == n and can_be_right(s.system, gold, w)
    for i in range(1, height(v)):
        if not is_headed(s, v, i):
            w = stack_item(s, v, i)
            lost += is_lost(s, gold, w, v.b <= gold.head[w] < e)
    forced[0] = 0
    if v.b < e:
        if s.system.single_root and not rooted:
            forced[0] = lost_to_heads(s, gold, v, 0, e)
        else:
            if p != NONE:
                forced[0] = lost_to_heads(s, gold, v, p, e)
            forced[0] += roots if s.system.single_root else 0
    return lost + forced[0]


cdef int root_first_rest(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil:
    """Errors to come: in words on the stack and in the buffer, and in undecided starts."""
    cdef int n = gold.n
    cdef int p = lowest_headless(s, v)
    cdef int missed = 0
    cdef int far = NONE     # the last word with which one before e can still get an arc
    cdef int least = NONE
    cdef int forced = 0
    cdef int i, e, w, loss
    if not s.system.segment:
        return root_first_inner(s, gold, v, p, n, &forced)
    if v.closed:
        return errors_behind(s, gold, v.b)
    for i in range(1, height(v)):
        w = stack_item(s, v, i)
        far = max(far, last_child(gold, w) if is_headed(s, v, i) else far_end(gold, w))
    for e in range(v.b, n):
        if may_end(s, gold, e) and (e > v.b or not (v.has_left or p != NONE)):
            loss = root_first_inner(s, gold, v, p, e, &forced) + missed
            loss += errors_behind(s, gold, e)
            least = loss if least == NONE else min(least, loss)
            # Where the sentence goes on, an arc that is lost here may be had.
            if gold.sent_start[e] == 1 or (far < e and forced == 0):
                return least
        missed += gold.sent_start[e] == 1 and e > s.start
        far = max(far, far_end(gold, e))
    loss = root_first_inner(s, gold, v, p, n, &forced) + missed
    return loss if least == NONE else min(least, loss)


# The static oracle.

cdef int wanted_move(
    const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil:
    """BREAK where gold does; else the gold arc between s0 and b0; else REDUCE if s0 has a head and
    the buffer is empty or b0 has a gold arc, either way, with an item beneath s0; else SHIFT."""
    cdef int s0 = S(s, 0)
    cdef int b0 = B(s, 0)
    cdef int name = SHIFT
    cdef int i, w
    if at_start(s) and gold.sent_start[b0] == 1:
        name = BREAK
    elif b0 == NONE:
        name = REDUCE
    elif s0 != s.n and s.head[s0] == NONE and gold.head[s0] == b0:
        name = LEFT_ARC
    elif gold.head[b0] == s0:
        name = RIGHT_ARC
    elif s.head[s0] != NONE:
        for i in range(s.n_stack - 1):
            w = s.stack[i]
            if gold.head[b0] == w or (w != s.n and gold.head[w] == b0):
                name = REDUCE
    return find_move(s, candidates, n, name, 1)


TEXTS = {
    "stack": "Words that were read and can still get arcs; ROOT is at the bottom. Moves are made "
    "with the top, the last one shown.",
    "buffer": "The words to come, the next one first.",
    "SHIFT": "The first word of the buffer goes onto the stack, without a head so far. The last "
    "word of a sentence cannot: nothing is left that could be its head.",
    "REDUCE": "The top of the stack leaves it. Only a word that has a head can leave.",
    "LEFT-ARC": "The first word of the buffer becomes the head of the top of the stack, which "
    "leaves the stack. Only a word without a head can be the dependent.",
    "RIGHT-ARC": "The top of the stack becomes the head of the first word of the buffer, which "
    "goes onto the stack. The last word of a sentence waits until all words on the stack have "
    "heads.",
    "BREAK": "The sentence ends before the first word of the buffer, where the next one starts as "
    "soon as the stack is ROOT alone. All words on the stack must have heads.",
}


cdef class RootFirstArcEager(MoveTable):
    """Arc-eager with ROOT at the bottom of the stack.

    Args:
        root_first: True: that is this form.
        **options: those of every system.
    """
    def __init__(self, labels=None, *, bint root_first=True, **options):
        self.begin("arc_eager", options, {"root_first": True})
        self.texts = dict(TEXTS)
        if self.c.single_root:
            self.texts["REDUCE"] += " The child of ROOT stays until the buffer is empty."
        self.c.projective = True
        self.c.start = root_at_bottom
        self.c.rest = root_first_rest
        use_static(&self.c, wanted_move)
        self.add_move(SHIFT, can_shift, do_shift, NULL, shift_rest)
        self.add_move(REDUCE, can_reduce, do_reduce, NULL, reduce_rest)
        self.add_move(LEFT_ARC, can_left_arc, do_left_arc, NULL, left_arc_rest, b0_end, s0_end)
        self.add_move(RIGHT_ARC, can_right_arc, do_right_arc, NULL, right_arc_rest, s0_end, b0_end)
        self.add_break(can_break, do_break, NULL, break_rest)

    @property
    def lookahead(self):
        """As ``TransitionSystem.lookahead``."""
        return 2

    def _form(self):
        return "arc_eager with root_first"
