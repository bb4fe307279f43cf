"""Arc-eager's own options."""
from spacy_nmparse.systems.structs cimport StateC, SystemC


cdef enum:  # which pushes are legal where SHIFT and RIGHT-ARC both are
    PUSH_ANY
    PUSH_SHIFT
    PUSH_RIGHT_ARC


cdef struct EagerC:     # a non-monotonic LEFT-ARC: SystemC.nonmonotonic
    bint nonmonotonic_reduce
    bint labelled_reduce
    int push
    const SystemC* monotonic    # the same system, monotonic


cdef inline const EagerC* eager(const StateC* s) noexcept nogil:
    return <const EagerC*>s.system.own
