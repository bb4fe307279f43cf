"""Planes: which gold arcs cross, and how many must be given up so that two planes hold the rest."""
from spacy_nmparse.systems.gold cimport Gold, GoldC


cdef int derive_planes(Gold gold) except -1
cdef int fewest_given_up(const GoldC* gold, int first, int last) noexcept nogil
