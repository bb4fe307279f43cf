"""The loss of the list systems."""
from spacy_nmparse.systems.covington.views cimport ListViewC
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport SystemC


cdef int fresh_marks(const StateC* s) noexcept nogil
cdef int list_inner(const StateC* s, const GoldC* gold, const ListViewC* v, int e) noexcept nogil
cdef int sentence_end(const StateC* s, const GoldC* gold, const ListViewC* v) noexcept nogil
cdef int behind(const SystemC* system, const GoldC* gold, int e) noexcept nogil
cdef int missed_starts(const GoldC* gold, const ListViewC* v) noexcept nogil
cdef int list_rest(const StateC* s, const GoldC* gold, const ListViewC* v) noexcept nogil
cdef int list_loss(const StateC* s, const GoldC* gold) noexcept nogil
