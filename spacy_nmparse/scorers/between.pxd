"""What stands between two words of a configuration, as far as counts tell it apart."""
from spacy_nmparse.systems.state cimport StateC


cdef enum:
    COUNT_VALUES = 5


cdef int n_crossed(const StateC* s, int a, int b) noexcept nogil
cdef int n_headless_between(const StateC* s, int a, int b) noexcept nogil
