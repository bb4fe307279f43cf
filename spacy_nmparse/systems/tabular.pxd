"""The loss of arc-standard configurations by dynamic programming."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport SystemC
from spacy_nmparse.systems.views cimport ViewC


cdef enum:
    MAX_SIDE = 64    # that many linked items on either side of the stack's top enter the table


cdef int latest_end(const StateC* s, const GoldC* gold, int b, int far) noexcept nogil
cdef int tabular_rest(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil
