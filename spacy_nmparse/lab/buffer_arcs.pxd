"""Arc-standard with arcs between the top of the stack and the front of the buffer."""
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.views cimport ViewC


cdef ViewC behind_shift(const StateC* s) noexcept nogil
