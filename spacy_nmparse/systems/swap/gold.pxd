"""What the swap system reads from a gold tree: a projective order."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.table cimport SystemC


cdef int derive_swap(GoldC* gold, const SystemC* system) except -1
