"""The repair transitions."""
from spacy_nmparse.systems.system cimport TransitionSystem


cdef int LEFT_INVERT

cdef int add_repairs(TransitionSystem system) except -1
