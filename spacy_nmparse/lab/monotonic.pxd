"""The oracles ``monotonic`` and ``combined`` of arc-eager."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport CandidateC, SystemC


cdef void learn_monotonic(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil
cdef void learn_combined(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil


cdef inline StateC in_system(const StateC* s, const SystemC* system) noexcept nogil:
    """The configuration (the same memory) as one of another system."""
    cdef StateC other = s[0]
    other.system = system
    return other


cdef void keep_allowed(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil
cdef void learn_in(
    const StateC* s, const GoldC* gold, int push_label, CandidateC* candidates, int n
) noexcept nogil
