"""Errors in stack items when they leave the stack, by system."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.views cimport ViewC


cdef int eager_leave(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int front
) noexcept nogil
cdef int hybrid_leave(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int front
) noexcept nogil
cdef int swift_leave(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int front
) noexcept nogil
cdef int root_first_leave(
    const StateC* s, const GoldC* gold, const ViewC* v, int i, int front
) noexcept nogil
