"""Bounds of the loss of arc-eager configurations with repair transitions or Unshift."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC


cdef enum:
    FAR = 1 << 20       # never


cdef struct BoundsC:
    int low
    int high


cdef BoundsC bounds_of(const StateC* s, const GoldC* gold) noexcept nogil
