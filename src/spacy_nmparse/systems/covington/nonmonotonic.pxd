"""The loss of non-monotonic list systems: two guesses about arcs that will be deleted."""
from spacy_nmparse.systems.covington.views cimport ListViewC
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC


cdef bint may_be_freed(
    const StateC* s, const GoldC* gold, const ListViewC* v, int w, int e
) noexcept nogil
cdef int n_cut(const StateC* s, const GoldC* gold, const ListViewC* v, int e) noexcept nogil
