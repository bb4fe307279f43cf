"""The exact loss of any arc-eager configuration, and costs as its differences."""
from spacy_nmparse.systems.arc_eager_options cimport eager
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC
from spacy_nmparse.systems.views cimport ViewC


cdef bint lost_if_popped(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int e
) noexcept nogil
cdef int inner(const StateC* s, const GoldC* gold, const ViewC* v, int e) noexcept nogil
cdef int leave(const StateC* s, const GoldC* gold, const ViewC* v, int i, int front) noexcept nogil
cdef int exact_loss(const StateC* s, const GoldC* gold) noexcept nogil
cdef int exact_cost(
    const StateC* s, const GoldC* gold, int move, int label, int push_label
) noexcept nogil


cdef inline bint needs_exact(const StateC* s, const GoldC* gold) noexcept nogil:
    """Whether the costs of single moves do not follow from local differences alone."""
    if s.system.tabulates and gold.crossing != NULL:
        return True
    return s.system.single_root and (
        not eager(s).nonmonotonic_reduce or (s.system.segment and gold.unknown_starts)
    )
