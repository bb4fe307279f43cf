"""Arc-eager with repair transitions or Unshift: loss and costs."""
from spacy_nmparse.lab.repairs.options cimport RepairsC
from spacy_nmparse.systems.arc_eager cimport ArcEager
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC


cdef int cost(
    const StateC* s, const GoldC* gold, int move, int k, int label, int push_label
) noexcept nogil
cdef int loss(const StateC* s, const GoldC* gold) noexcept nogil


cdef class RevisedArcEager(ArcEager):
    cdef RepairsC own_revised
