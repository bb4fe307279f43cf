"""LEFT-YIELD: B0's first left dependent becomes a dependent of S0."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport TransitionSystem
from spacy_nmparse.systems.views cimport ViewC


cdef int LEFT_YIELD

cdef int add_yield(TransitionSystem system) except -1
cdef int yielded_loss(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil
