"""The exact loss of any arc-eager configuration, and costs as its differences."""
from spacy_nmparse.systems.arc_eager_options cimport eager
from spacy_nmparse.systems.errors cimport label_ok
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.table cimport SystemC
from spacy_nmparse.systems.views cimport ViewC


cdef bint lost_if_popped(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int e
) noexcept nogil
cdef int eager_inner(const StateC* s, const GoldC* gold, const ViewC* v, int e) noexcept nogil
cdef int eager_rest(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil
cdef int exact_loss(const StateC* s, const GoldC* gold) noexcept nogil
cdef int exact_cost(
    const StateC* s, const GoldC* gold, int move, int label, int push_label
) noexcept nogil


cdef inline bint needs_exact(const StateC* s, const GoldC* gold) noexcept nogil:
    """Whether the costs of single moves do not follow from local differences alone."""
    return s.system.single_root and (
        not eager(s).nonmonotonic_reduce or (s.system.segment and gold.unknown_starts)
    )


cdef inline bint label_is_right(
    const StateC* s, const GoldC* gold, const ViewC* v, int w
) noexcept nogil:
    """Of the arc into w from the item beneath it, built or to be built by REDUCE."""
    cdef bint headed = v.headed if w == v.top else s.head[w] != NONE
    if w == v.top:
        return label_ok(gold, w, v.label) or (eager(s).labelled_reduce and not headed)
    if label_ok(gold, w, s.label[w] if headed else s.push_label[w]):
        return True
    return eager(s).labelled_reduce and not headed
