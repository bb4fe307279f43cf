# cython: language_level=3
"""What another package can build on the costs: `tests/test_cimport.py` compiles this."""
from spacy_nmparse.systems.arc_eager cimport (
    can_left_arc,
    can_reduce,
    can_right_arc,
    do_left_arc,
    do_reduce,
    do_right_arc,
    left_arc_cost,
    reduce_cost,
    right_arc_cost,
    shift_cost,
)
from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.moves cimport can_shift, do_shift
from spacy_nmparse.systems.state cimport NONE, StateC, state_add_arc
from spacy_nmparse.systems.table cimport SystemC, MoveTable


cdef int no_move = -1


cdef int left_arc_or_none(const StateC* state, const GoldC* gold, int label) noexcept nogil:
    if not can_left_arc(state, 1):
        return no_move
    return left_arc_cost(state, gold, 1, label, NONE)


def costs(MoveTable system, State state, Gold gold):
    """Costs of SHIFT, REDUCE, LEFT-ARC, RIGHT-ARC in unlabelled arc-eager; -1: illegal."""
    cdef const StateC* s = &state.c
    cdef const GoldC* g = &gold.c
    cdef int shift = no_move
    cdef int reduce = no_move
    cdef int left, right = no_move
    system.bind(gold)
    with nogil:
        if can_shift(s, 1):
            shift = shift_cost(s, g, 1, NONE, 0)
        if can_reduce(s, 1):
            reduce = reduce_cost(s, g, 1, NONE, NONE)
        left = left_arc_or_none(s, g, 0)
        if can_right_arc(s, 1):
            right = right_arc_cost(s, g, 1, 0, 0)
    return shift, reduce, left, right


def parse(MoveTable system, State state, Gold gold):
    """Follow the cheapest move to the end, without the GIL. Returns the sum of the costs."""
    cdef const SystemC* c = &system.c
    cdef StateC* s = &state.c
    cdef const GoldC* g = &gold.c
    cdef int total = 0
    cdef int cost, least, best
    system.bind(gold)
    with nogil:
        while not c.is_final(s):
            best = no_move
            least = 0
            if can_shift(s, 1):
                least = shift_cost(s, g, 1, NONE, 0)
                best = 0
            if can_reduce(s, 1):
                cost = reduce_cost(s, g, 1, NONE, NONE)
                if best == no_move or cost < least:
                    least = cost
                    best = 1
            cost = left_arc_or_none(s, g, 0)
            if cost != no_move and (best == no_move or cost < least):
                least = cost
                best = 2
            if can_right_arc(s, 1):
                cost = right_arc_cost(s, g, 1, 0, 0)
                if best == no_move or cost < least:
                    least = cost
                    best = 3
            if best == 0:
                do_shift(s, 1, NONE, 0)
            elif best == 1:
                do_reduce(s, 1, NONE, NONE)
            elif best == 2:
                do_left_arc(s, 1, 0, NONE)
            elif best == 3:
                do_right_arc(s, 1, 0, 0)
            else:
                break
            total += least
    return total


def spoil(State state, str what):
    """Break what must hold of a configuration of three words or more."""
    cdef StateC* s = &state.c
    if what == "count":
        s.n_stack = -1
    elif what == "stack":
        s.stack[0] = 0
        s.n_stack = 1
    elif what == "rebuffer":
        s.rebuffer[0] = 2
        s.n_rebuffer = 1
        s.b = 1
    elif what == "head":
        s.head[0] = 0
    elif what == "label":
        s.label[0] = 0
    elif what == "kids":
        s.head[0] = 1
    elif what == "cycle":
        state_add_arc(s, 0, 1, 0)
        state_add_arc(s, 1, 0, 0)
    elif what == "start":
        s.sentence_start[1] = 1
    elif what == "crossed":
        state_add_arc(s, 0, 2, 0)
        s.sentence_start[1] = 1
