"""The loss of arc-eager configurations with repair transitions or Unshift, by bounds and search."""
from spacy_nmparse.lab.repairs.options cimport has_repairs, revised
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport CandidateC, SystemC


cdef inline bint searches(const StateC* s) noexcept nogil:
    """Whether the loss by bounds and search answers here. The systems that ``monotonic`` and
    ``combined`` ask, without repairs and Unshift, have losses of arc-eager, but for words that are
    back in the buffer."""
    return revised(s).unshift or s.n_rebuffer > 0 or has_repairs(s)


cdef int revised_loss(const StateC* s, const GoldC* gold) noexcept nogil
cdef void revised_costs(
    const StateC* s, const GoldC* gold, int push_label, bint exact, CandidateC* candidates, int n
) noexcept nogil
