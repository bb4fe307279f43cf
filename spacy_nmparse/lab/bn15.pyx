"""Björkelund & Nivre's (2015) oracles of swap_standard ``lazy`` and ``nd_sw``; ``minimal`` has a
module of its own, and ``eager`` and ``nd_all`` are in the system's."""
from spacy_nmparse.systems.gold cimport new_tables, tables_of
from spacy_nmparse.systems.names cimport new_oracle
from spacy_nmparse.systems.state cimport NONE, B, S
from spacy_nmparse.systems.static cimport learn_first_cheapest
from spacy_nmparse.systems.swap.plan cimport STAY, PlanC, make_room, swap_tables
from spacy_nmparse.systems.swap.swap cimport eager_move, leads_home, learn_moves, learn_planned
from spacy_nmparse.systems.table cimport SHIFT, SWAP, MoveTable


cdef const int* components_of(const GoldC* gold) noexcept nogil:
    """Word -> the top of its maximal projective component; made when it is asked for first. NULL:
    there is no memory."""
    cdef int* found = <int*>tables_of(gold, <const void*>components_of)
    cdef PlanC p
    if found != NULL:
        return found
    with gil:
        try:
            found = <int*>new_tables(
                <GoldC*>gold, <const void*>components_of, (gold.n + 1) * sizeof(int)
            )
        except MemoryError:
            return NULL
    make_room(swap_tables(gold), gold.n, &p)
    find_components(&p, swap_tables(gold).head, found)
    return found


cdef void find_components(PlanC* p, const int* head, int* component) noexcept nogil:
    """Word -> the top of the subtree that it is in when arc-standard, without SWAP, gets stuck."""
    cdef int n = p.n
    cdef int n_stack = 1
    cdef int w, top, s0, s1
    for w in range(n + 1):
        p.pending[w] = 0
        component[w] = w
    for w in range(n):
        p.pending[head[w]] += 1
    p.stack[0] = n
    for w in range(n):
        p.stack[n_stack] = w
        n_stack += 1
        while n_stack > 1:
            s0 = p.stack[n_stack - 1]
            s1 = p.stack[n_stack - 2]
            if s1 != n and head[s1] == s0 and p.pending[s1] == 0:
                p.stack[n_stack - 2] = s0
                component[s1] = s0
                p.pending[s0] -= 1
            elif head[s0] == s1 and p.pending[s0] == 0:
                component[s0] = s1
                p.pending[s1] -= 1
            else:
                break
            n_stack -= 1
    for w in range(n):
        top = w
        while component[top] != top:
            top = component[top]
        # Shorten the path for the words that come later.
        s0 = w
        while component[s0] != top:
            s1 = component[s0]
            component[s0] = top
            s0 = s1


cdef void learn_lazy(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """EAGER, but SHIFT for SWAP while S0 and B0 are in one maximal projective component (and while
    that leads to the tree)."""
    cdef const int* component = components_of(gold)
    cdef int move, b0
    if component == NULL or not leads_home(s, gold, STAY):
        learn_first_cheapest(candidates, n)
        return
    move = eager_move(s, gold)
    b0 = B(s, 0)
    if move == SWAP and b0 != NONE and component[S(s, 0)] == component[b0] and (
        leads_home(s, gold, SHIFT)
    ):
        move = SHIFT
    learn_moves(s, move, False, candidates, n)


cdef void learn_nd_sw(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    """EAGER, and where it has SWAP every SHIFT that leads to the tree, or to what is left of it."""
    cdef int move
    if not leads_home(s, gold, STAY):
        learn_planned(s, gold, push_label, False, candidates, n)
        return
    move = eager_move(s, gold)
    learn_moves(
        s, move,
        move == SWAP and B(s, 0) != NONE and leads_home(s, gold, SHIFT), candidates, n,
    )


cdef int check_swap(MoveTable system) except -1:
    """Raise TypeError if a system is not swap_standard: these oracles read its gold tables."""
    if system.name != "swap_standard":
        raise TypeError(f"This oracle is one of swap_standard, not of {system.name}.")
    return 0


def add_lazy(MoveTable system not None):
    """Give swap_standard the oracle ``lazy``."""
    check_swap(system)
    system.c.oracles[new_oracle("lazy", True)] = learn_lazy


def add_nd_sw(MoveTable system not None):
    """Give swap_standard the oracle ``nd_sw``."""
    check_swap(system)
    system.c.oracles[new_oracle("nd_sw", True)] = learn_nd_sw
