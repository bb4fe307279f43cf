"""A transition system as search and learning see it: a table of moves, and labels."""
from spacy_nmparse.systems.gold cimport Gold
from spacy_nmparse.systems.structs cimport SystemC


cdef class MoveTable:
    cdef SystemC c
    cdef readonly str name
    cdef readonly dict options
    cdef readonly tuple labels          # as given, or None: unlabelled
    cdef readonly tuple label_names     # labels, or (None,)
    cdef dict label_ids

    cpdef int bind(self, Gold gold) except -1
    cdef bint is_like(self, MoveTable other)
