"""The projective order of a gold tree, for the swap system."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.table cimport SystemC


cdef int derive_swap(GoldC* gold, const SystemC* system) except -1
