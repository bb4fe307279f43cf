"""What single roots and sentence starts add to arc-eager's loss and costs."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC


cdef int more_surplus_roots(
    const StateC* s, const GoldC* gold, bint bottom_root, int first, bint open_start
) noexcept nogil
cdef int push_roots(const StateC* s, const GoldC* gold) noexcept nogil
cdef int all_surplus_roots(const StateC* s, const GoldC* gold) noexcept nogil
cdef int start_errors(const StateC* s, const GoldC* gold) noexcept nogil


cdef inline bint bottom_is_root(const StateC* s, const GoldC* gold) noexcept nogil:
    return s.n_stack > 0 and gold.head[s.stack[0]] == s.n
