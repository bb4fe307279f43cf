"""SwapStandard (Nivre 2009): what its oracles ask, and what is lost after each move."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport CandidateC


cdef bint leads_home(const StateC* s, const GoldC* gold, int move) noexcept nogil
cdef int eager_move(const StateC* s, const GoldC* gold) noexcept nogil
cdef void learn_moves(
    const StateC* s, int wanted, bint shift, CandidateC* candidates, int n
) noexcept nogil
cdef void learn_planned(
    const StateC* s, const GoldC* gold, int push_label, bint beside_arcs,
    CandidateC* candidates, int n
) noexcept nogil

cdef int shift_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int left_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int right_arc_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int swap_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int break_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
