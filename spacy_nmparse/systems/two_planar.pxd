"""The 2-planar system (Gómez-Rodríguez & Nivre 2010, 2013)."""
from spacy_nmparse.systems.gold cimport Gold
from spacy_nmparse.systems.system cimport TransitionSystem


cdef class TwoPlanar(TransitionSystem):
    cdef int bind(self, Gold gold) except -1
