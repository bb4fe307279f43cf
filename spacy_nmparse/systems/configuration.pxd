"""The Python face of configurations."""
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.structs cimport SystemC


cdef class State:
    cdef StateC c
    cdef void* block
    cdef object owner       # of self.c.system
    cdef readonly tuple label_names
    cdef readonly str system

    cdef void bind(self, const SystemC* system, owner)
    cpdef State copy(self)
