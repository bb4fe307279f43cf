"""SwapStandard (Nivre 2009): what is lost after each move, and its own, but for labels."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC


cdef int shift_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int left_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int right_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int swap_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int break_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
