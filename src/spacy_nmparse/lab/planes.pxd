"""Planes: which gold arcs cross, and how many must be given up so that two planes hold the rest."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.system cimport SystemC


cdef int derive_planes(GoldC* gold, const SystemC* system) except -1
cdef int fewest_given_up(const GoldC* gold, int first, int last) noexcept nogil
