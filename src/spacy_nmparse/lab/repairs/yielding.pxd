"""The loss of arc-eager configurations with LEFT-YIELD."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.views cimport ViewC


cdef int yielded_lost(const StateC* s, const GoldC* gold, const ViewC* v, int e) noexcept nogil
cdef int n_yielded(const StateC* s, const GoldC* gold, bint right) noexcept nogil
cdef int yielded_rest(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil
