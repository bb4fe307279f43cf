"""What the moves of several systems share: the ends of arcs, and the errors that arcs make."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.system cimport SystemC, label_fits


cdef int s0_end(const StateC* s, int k) noexcept nogil
cdef int s1_end(const StateC* s, int k) noexcept nogil
cdef int b0_end(const StateC* s, int k) noexcept nogil
cdef bint always(const StateC* s, int k) noexcept nogil
cdef bint never(const StateC* s, int k) noexcept nogil
cdef void root_at_bottom(StateC* s) noexcept nogil
cdef int settled(const StateC* s, const GoldC* gold) noexcept nogil


cdef inline bint label_ok(const GoldC* gold, int w, int label) noexcept nogil:
    return gold.label[w] == NONE or gold.label[w] == label


cdef inline bint can_be_right(const SystemC* system, const GoldC* gold, int w) noexcept nogil:
    """Whether an arc from the gold head of w may take the gold label."""
    return gold.label[w] == NONE or label_fits(system, gold.head[w] == gold.n, gold.label[w])


cdef inline int arc_error(const GoldC* gold, int head, int dependent, int label) noexcept nogil:
    """Errors in the dependent after this arc."""
    if gold.head[dependent] == NONE:
        return 0
    return gold.head[dependent] != head or not label_ok(gold, dependent, label)


cdef inline int least_error(
    const StateC* s, const GoldC* gold, int head, int dependent
) noexcept nogil:
    """The same with the label that is best."""
    if gold.head[dependent] == NONE:
        return 0
    return gold.head[dependent] != head or not can_be_right(s.system, gold, dependent)


cdef inline int label_error(
    const StateC* s, const GoldC* gold, int head, int dependent, int label
) noexcept nogil:
    """What the label adds to the arc's least error."""
    return arc_error(gold, head, dependent, label) - least_error(s, gold, head, dependent)


cdef inline int label_counts(
    const StateC* s, const GoldC* gold, int head, int dependent
) noexcept nogil:
    """What any label but the gold one costs."""
    if dependent == NONE or gold.head[dependent] != head or gold.label[dependent] == NONE:
        return 0
    return can_be_right(s.system, gold, dependent)


cdef inline bint is_lost(const StateC* s, const GoldC* gold, int w, bint reachable) noexcept nogil:
    """Whether headless w cannot get its gold head, which is in reach or not."""
    return gold.head[w] != NONE and not (reachable and can_be_right(s.system, gold, w))


cdef inline bint is_complete(const StateC* s, const GoldC* gold, int w) noexcept nogil:
    """Whether w has the gold dependents that wait for a head."""
    cdef int i
    for i in range(gold.child_offset[w], gold.child_offset[w + 1]):
        if s.head[gold.children[i]] == NONE:
            return False
    return True
