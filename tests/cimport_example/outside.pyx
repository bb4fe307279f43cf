# cython: language_level=3
"""A transition system that another package brings: `tests/test_cimport.py` compiles this and trains
a parser with it. It is arc-hybrid with the moves in another order, and a move of its own,
LEFT-ARC-SHIFT, with options, a feature, and tables of the gold tree.
"""
from spacy_nmparse.scorers.features cimport COUNT_VALUES, new_fact, new_word
from spacy_nmparse.systems.arc_hybrid cimport (
    can_left_arc,
    can_right_arc,
    do_left_arc,
    do_right_arc,
    left_arc_rest,
    right_arc_rest,
)
from spacy_nmparse.systems.errors cimport is_lost, least_error
from spacy_nmparse.systems.gold cimport GoldC, last_child, new_tables, tables_of
from spacy_nmparse.systems.moves cimport b0_end, can_shift, do_shift, s0_end, s1_end
from spacy_nmparse.systems.names cimport new_move
from spacy_nmparse.systems.sentences cimport (
    break_rest,
    can_break,
    do_break,
    gold_breaks,
    least_rest,
    missed_start,
    shift_rest,
)
from spacy_nmparse.systems.state cimport NONE, B, S, StateC, pop, push, read, state_add_arc
from spacy_nmparse.systems.static cimport find_move, use_static
from spacy_nmparse.systems.table cimport (
    BREAK,
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
    CandidateC,
    SystemC,
    MoveTable,
)
from spacy_nmparse.systems.views cimport ViewC, height, place, push_in_view, stack_item, view


cdef struct OutsideC:
    double share        # LEFT-ARC-SHIFT is legal up to this share of the text
    bint wanted         # the static oracle wants it
    int most            # and so many times in a text; 0: any number


cdef inline const OutsideC* own(const StateC* s) noexcept nogil:
    return <const OutsideC*>s.system.own


# LEFT-ARC-SHIFT(l): (S|s0, b0|B, A) => (S|b0, B, A + b0 -l-> s0). b0 is not ROOT.

cdef int LEFT_ARC_SHIFT = new_move(
    "LEFT-ARC-SHIFT", "#be185d",
    "The first word of the buffer becomes the head of the top of the stack, and takes its place.",
)


cdef bint can_left_arc_shift(const StateC* s, int k) noexcept nogil:
    if own(s).most and s.numbers[0] == own(s).most:
        return False
    return B(s, 0) != s.n and s.b <= own(s).share * s.n and can_left_arc(s, k)


cdef void do_left_arc_shift(StateC* s, int k, int l, int push_label) noexcept nogil:
    state_add_arc(s, B(s, 0), pop(s), l)
    push(s, read(s))
    s.numbers[0] += 1


cdef int shifts_made(const StateC* s, int head, int dependent) noexcept nogil:
    return min(s.numbers[0], COUNT_VALUES - 1)


new_fact("outside.made", COUNT_VALUES, shifts_made)


def bring(str name, int n_values):
    """As above, to see what a taken name or no values do."""
    new_fact(name, n_values, shifts_made)


def bring_word(str letter):
    new_word(letter, NULL)


cdef int inner(const StateC* s, const GoldC* gold, const ViewC* v, int e) noexcept nogil:
    cdef int lost = 0
    cdef int i, w, g
    for w in range(v.b, e):
        g = gold.head[w]
        lost += is_lost(
            s, gold, w,
            g == s.n or v.b <= g < e or (0 <= g < s.n and place(s, v, g) != NONE)
        )
    for i in range(height(v)):
        w = stack_item(s, v, i)
        g = gold.head[w]
        lost += is_lost(
            s, gold, w,
            v.b <= g < e or (g == s.n and (i == 0 or not s.system.single_root))
            or (i > 0 and g == stack_item(s, v, i - 1))
        )
    return lost


cdef int rest(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil:
    return least_rest(s, gold, v, inner, False)


cdef int left_arc_shift_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil:
    cdef ViewC v = view(s)
    cdef int errors = missed_start(s, gold) + least_error(s, gold, s.b, S(s, 0))
    v.below -= 1
    push_in_view(s, &v, False)
    return errors + rest(s, gold, &v)


cdef int derive(GoldC* gold, const SystemC* system) except -1:
    """Word -> its last gold dependent, or NONE."""
    cdef int* last
    cdef int w
    if tables_of(gold, <const void*>derive) == NULL:
        last = <int*>new_tables(gold, <const void*>derive, gold.n * sizeof(int))
        for w in range(gold.n):
            last[w] = last_child(gold, w)
    return 0


cdef int wanted_move(
    const StateC* s, const GoldC* gold, const CandidateC* candidates, int n
) noexcept nogil:
    cdef const int* last = <const int*>tables_of(gold, <const void*>derive)
    cdef int s0 = S(s, 0)
    cdef int name = SHIFT
    if gold_breaks(s, gold):
        name = BREAK
    elif s0 != NONE and gold.head[s0] == B(s, 0):
        name = LEFT_ARC
        if own(s).wanted and can_left_arc_shift(s, 1):
            name = LEFT_ARC_SHIFT
    elif s.n_stack > 1 and gold.head[s0] == S(s, 1) and last[s0] < s.b:
        name = RIGHT_ARC
    return find_move(s, candidates, n, name, 1)


cdef void start(StateC* s) noexcept nogil:
    s.root_last = 1
    s.numbers[0] = 0    # counts LEFT-ARC-SHIFTs


cdef class Outside(MoveTable):
    cdef OutsideC own

    def __init__(
        self, labels=None, *, double share=1.0, compound="wanted", int most=0, **options
    ):
        if compound not in ("wanted", "allowed"):
            raise ValueError(f"outside: compound is 'wanted' or 'allowed', not {compound!r}.")
        self.begin("outside", options, {"share": share, "compound": compound, "most": most})
        self.own.share = share
        self.own.most = most
        self.own.wanted = compound == "wanted"
        self.c.own = &self.own
        self.c.projective = True
        self.c.start = start
        self.c.derive = derive
        self.c.rest = rest
        use_static(&self.c, wanted_move)
        self.add_break(can_break, do_break, NULL, break_rest)
        self.add_move(RIGHT_ARC, can_right_arc, do_right_arc, NULL, right_arc_rest, s1_end, s0_end)
        self.add_move(LEFT_ARC, can_left_arc, do_left_arc, NULL, left_arc_rest, b0_end, s0_end)
        self.add_move(SHIFT, can_shift, do_shift, NULL, shift_rest)
        self.add_move(
            LEFT_ARC_SHIFT, can_left_arc_shift, do_left_arc_shift, NULL, left_arc_shift_rest,
            b0_end, s0_end,
        )
        self.features["LEFT-ARC-SHIFT"] = ("S0*B1", "outside.made")
