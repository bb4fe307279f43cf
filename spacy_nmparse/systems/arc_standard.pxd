"""Arc-standard (Nivre 2004): preconditions, effects, costs."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.system cimport CandidateC, SystemC, TransitionSystem
from spacy_nmparse.systems.tabular cimport can_be_right


cdef bint can_shift(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_shift(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil
cdef int shift_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef bint can_left_arc(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_left_arc(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil
cdef int left_arc_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef bint can_right_arc(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_right_arc(
    const SystemC* system, StateC* s, int k, int l, int push_label
) noexcept nogil
cdef int right_arc_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef bint can_break(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef void do_break(const SystemC* system, StateC* s, int k, int l, int push_label) noexcept nogil
cdef int break_cost(
    const SystemC* system, const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef int arc_standard_loss(
    const SystemC* system, const StateC* s, const GoldC* gold
) noexcept nogil

cdef int s0_end(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef int s1_end(const SystemC* system, const StateC* s, int k) noexcept nogil
cdef int settled(const SystemC* system, const StateC* s, const GoldC* gold) noexcept nogil
cdef void costs_of_rests(
    const SystemC* system, const GoldC* gold, CandidateC* candidates, int n
) noexcept nogil
cdef void learn_one(
    const SystemC* system, int wanted, CandidateC* candidates, int n
) noexcept nogil
cdef void start(const SystemC* system, StateC* s) noexcept nogil


cdef inline int arc_error(const GoldC* gold, int head, int dependent, int label) noexcept nogil:
    """Errors in the dependent after this arc."""
    if gold.head[dependent] == NONE:
        return 0
    return gold.head[dependent] != head or (
        gold.label[dependent] != NONE and gold.label[dependent] != label
    )


cdef inline int least_error(
    const SystemC* system, const GoldC* gold, int head, int dependent
) noexcept nogil:
    """The same with the label that is best."""
    if gold.head[dependent] == NONE:
        return 0
    return gold.head[dependent] != head or not can_be_right(system, gold, dependent)


cdef inline int label_error(
    const SystemC* system, const GoldC* gold, int head, int dependent, int label
) noexcept nogil:
    """What the label adds to the arc's least error."""
    return arc_error(gold, head, dependent, label) - least_error(system, gold, head, dependent)


cdef inline int label_counts(
    const SystemC* system, const GoldC* gold, int head, int dependent
) noexcept nogil:
    """What any other label costs besides."""
    if dependent == NONE or gold.head[dependent] != head or gold.label[dependent] == NONE:
        return 0
    return can_be_right(system, gold, dependent)


cdef inline bint may_break(const SystemC* system, const StateC* s) noexcept nogil:
    """Whether a sentence start can be made at B0: a word that has never been read."""
    return (
        system.segment and s.start < s.b < s.end and s.n_rebuffer == 0
        and s.constraint[s.b] != -1
    )


cdef inline bint must_break(const SystemC* system, const StateC* s) noexcept nogil:
    return may_break(system, s) and s.constraint[s.b] == 1


cdef class ArcStandard(TransitionSystem):
    pass
