"""The repair transitions."""
from spacy_nmparse.systems.table cimport MoveTable


cdef int LEFT_INVERT

cdef int add_repairs(MoveTable system) except -1
