"""The errors that arcs make, and those that their labels add."""
from spacy_nmparse.systems.structs cimport NONE, GoldC, StateC, SystemC


cdef int settled(const StateC* s, const GoldC* gold) noexcept nogil


cdef inline bint label_fits(const SystemC* system, bint from_root, int label) noexcept nogil:
    """Whether an arc may take the label: labels of roots are for arcs from ROOT, and them alone."""
    return system.root_labels == NULL or system.root_labels[label] == from_root


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


cdef inline int label_counts(
    const StateC* s, const GoldC* gold, int head, int dependent
) noexcept nogil:
    """The cost of a label that is not the gold one."""
    if dependent == NONE or gold.head[dependent] != head or gold.label[dependent] == NONE:
        return 0
    return can_be_right(s.system, gold, dependent)


cdef inline bint is_lost(const StateC* s, const GoldC* gold, int w, bint reachable) noexcept nogil:
    """Whether headless w cannot get its gold head, which is in reach or not."""
    return gold.head[w] != NONE and not (reachable and can_be_right(s.system, gold, w))
