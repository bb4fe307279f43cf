"""The exact loss of projective systems on gold trees whose arcs cross, and the oracle ``exact``.

There the costs of these systems are lower bounds. Here the loss behind each move is told exactly,
by tables (see ``stretches``). The oracle learns whatever moves have the least.
"""
from libc.stdlib cimport free, malloc

from spacy_nmparse.lab.buffer_arcs cimport behind_shift
from spacy_nmparse.lab.crossing.leaves cimport (
    eager_leave,
    hybrid_leave,
    root_first_leave,
    swift_leave,
)
from spacy_nmparse.lab.crossing.spans cimport CrossingC, FormC
from spacy_nmparse.lab.crossing.stretches cimport crossing_of, rest_of_stretch, stretch_end
from spacy_nmparse.systems.arc_eager_exact cimport exact_loss as eager_loss
from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.gold cimport Gold, GoldC
from spacy_nmparse.systems.names cimport new_oracle
from spacy_nmparse.systems.sentences cimport errors_behind
from spacy_nmparse.systems.state cimport NONE, UNKNOWN_LABEL, StateC, state_block_size, state_copy
from spacy_nmparse.systems.table cimport (
    LEARN_LABEL,
    CandidateC,
    MoveTable,
    label_fits,
    learn_cheapest,
    oracle_t,
)
from spacy_nmparse.systems.views cimport ViewC, view


cdef ViewC itself(const StateC* s) noexcept nogil:
    return view(s)


cdef FormC EAGER = FormC(eager_leave, False, itself, eager_loss)
cdef FormC ROOT_FIRST = FormC(root_first_leave, True, itself, NULL)
cdef FormC HYBRID = FormC(hybrid_leave, False, itself, NULL)
cdef FormC SWIFT = FormC(swift_leave, False, itself, NULL)
cdef FormC STANDARD = FormC(NULL, False, itself, NULL)
cdef FormC BUFFER = FormC(NULL, False, behind_shift, NULL)


cdef inline int bound(const StateC* s, const GoldC* gold, const FormC* form) noexcept nogil:
    """The lower bound of the loss that the system tells."""
    return s.system.loss(s, gold) if form.loss is NULL else form.loss(s, gold)


cdef int loss_of(
    const StateC* s, const GoldC* gold, const CrossingC* c, const FormC* form
) noexcept nogil:
    """The exact loss of a configuration."""
    cdef int loss = bound(s, gold, form)
    cdef ViewC v
    cdef int e
    if s.system.is_final(s):
        return loss
    v = form.view(s)
    if v.b < gold.n and not v.closed and c.size[v.b]:
        return loss - s.system.rest(s, gold, &v) + rest_of_stretch(s, gold, c, &v)
    # Errors to come here are told exactly; those behind the stretch, or the sentence, are not.
    e = v.b if v.closed or v.b == gold.n else stretch_end(s.system, gold, v.b)
    return loss - errors_behind(s, gold, e) + c.behind[e]


cdef int loss_behind(
    const StateC* s, const GoldC* gold, const CrossingC* c, const FormC* form,
    const CandidateC* move, int label, int push_label, void* block
) noexcept nogil:
    """The exact loss once a move is made, on a copy of the configuration in the block."""
    cdef StateC after
    state_copy(&after, block, s)
    s.system.moves[move.move].effect(&after, move.k, label, push_label)
    return loss_of(&after, gold, c, form)


cdef void learn_exact(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n,
    const FormC* form
) noexcept nogil:
    """Learn the moves of the least exact cost. Without memory for the tables, those of the least
    cost by the formulas."""
    cdef const CrossingC* c = crossing_of(gold, s.system, form)
    cdef CandidateC* exact = <CandidateC*>malloc(n * sizeof(CandidateC))
    cdef void* block = malloc(state_block_size(s.n))
    cdef CandidateC* one
    cdef int i, label
    if c == NULL or exact == NULL or block == NULL:
        learn_cheapest(s, gold, push_label, candidates, n)
    else:
        for i in range(n):
            exact[i] = candidates[i]
            one = &exact[i]
            label = NONE if one.dependent == NONE else UNKNOWN_LABEL
            one.cost_other = loss_behind(s, gold, c, form, one, label, push_label, block)
            one.cost = one.cost_other
            label = NONE if one.dependent == NONE else gold.label[one.dependent]
            if label != NONE and label_fits(s.system, one.head == s.n, label):
                one.cost = loss_behind(s, gold, c, form, one, label, push_label, block)
        learn_cheapest(s, gold, push_label, exact, n)
        for i in range(n):
            candidates[i].learn = exact[i].learn
            if exact[i].learn == LEARN_LABEL:
                candidates[i].label = gold.label[candidates[i].dependent]
    free(exact)
    free(block)


# The oracles, by system.

cdef void learn_eager(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    learn_exact(s, gold, push_label, candidates, n, &EAGER)


cdef void learn_root_first(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    learn_exact(s, gold, push_label, candidates, n, &ROOT_FIRST)


cdef void learn_hybrid(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    learn_exact(s, gold, push_label, candidates, n, &HYBRID)


cdef void learn_swift(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    learn_exact(s, gold, push_label, candidates, n, &SWIFT)


cdef void learn_standard(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    learn_exact(s, gold, push_label, candidates, n, &STANDARD)


cdef void learn_buffer(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil:
    learn_exact(s, gold, push_label, candidates, n, &BUFFER)


cdef const FormC* form_of(MoveTable system, oracle_t* oracle) except NULL:
    """The form of the system, for the tables; its oracle is written to ``oracle``."""
    if system.name == "arc_eager" and system.options.get("root_first"):
        oracle[0] = learn_root_first
        return &ROOT_FIRST
    if system.name == "arc_eager":
        oracle[0] = learn_eager
        return &EAGER
    if system.name == "arc_standard" and system.options.get("buffer_arcs"):
        oracle[0] = learn_buffer
        return &BUFFER
    if system.name == "arc_standard":
        oracle[0] = learn_standard
        return &STANDARD
    if system.name == "arc_hybrid":
        oracle[0] = learn_hybrid
        return &HYBRID
    if system.name == "arc_swift":
        oracle[0] = learn_swift
        return &SWIFT
    raise TypeError(f"The oracle exact is one of projective systems, not of {system.name}.")


def add_exact(MoveTable system not None):
    """Give a projective system the oracle ``exact``."""
    cdef oracle_t oracle
    form_of(system, &oracle)
    system.c.oracles[new_oracle("exact")] = oracle


def exact_loss(MoveTable system not None, State state not None, Gold gold not None):
    """The least loss of any final configuration that is reachable from state (float).

    Args:
        system: a system that has the oracle ``exact``.
        state: a configuration.
        gold: the gold tree, over as many words; its arcs may cross.

    Raises:
        ValueError: a system without that oracle; or as ``TransitionSystem.loss``.
        MemoryError: there is none for the tables.
    """
    cdef oracle_t oracle
    cdef const FormC* form
    cdef const CrossingC* c
    system.oracle_id("exact")
    form = form_of(system, &oracle)
    gold, errors = system.check_gold(state, gold)
    c = crossing_of(&gold.c, &system.c, form)
    if c == NULL:
        raise MemoryError(f"No memory for the tables of {gold.c.n} words.")
    return float(errors + loss_of(&state.c, &gold.c, c, form))


def exact_costs(
    MoveTable system not None, State state not None, Gold gold not None, push_label=None
):
    """The exact cost of each legal action: the loss that it adds (dict from ``Action`` to float).

    Args:
        system: a system that has the oracle ``exact``.
        state: a configuration.
        gold: the gold tree, over as many words; its arcs may cross.
        push_label: the label that a push made here would note.

    Raises:
        ValueError: as ``exact_loss``.
    """
    here = exact_loss(system, state, gold)
    costs = {}
    for action in system.actions(state):
        after = state.copy()
        system.apply(after, action, push_label)
        costs[action] = exact_loss(system, after, gold) - here
    return costs
