"""Static oracles: learn the wanted move, else the cheapest."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.table cimport CandidateC, SystemC, wanted_t


cdef void learn_wanted(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil
cdef void learn_first_cheapest(CandidateC* candidates, int n) noexcept nogil
cdef void use_static(SystemC* system, wanted_t wanted) noexcept nogil


cdef inline int find_move(
    const StateC* s, const CandidateC* candidates, int n, int name, int k
) noexcept nogil:
    """The place of a move among the candidates, or NONE."""
    cdef int i
    for i in range(n):
        if s.system.moves[candidates[i].move].name == name and candidates[i].k == k:
            return i
    return NONE
