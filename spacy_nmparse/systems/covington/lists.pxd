"""The fields of a list system's configuration, besides stack, buffer and arcs."""
from spacy_nmparse.systems.headless cimport N_SETS, treetop
from spacy_nmparse.systems.sentences cimport may_break as at_start
from spacy_nmparse.systems.structs cimport NONE, GoldC, StateC


cdef enum:
    N_LAMBDA1 = 0           # a number: lambda1 is that many of the items, lambda2 the rest of them
    MARK = N_SETS           # an array, room for the cost functions: word -> a mark
    N_ARRAYS


cdef struct ListC:
    int max_length          # no arc between words is longer; 0: any length
    int root_label          # that headless words get at the end, or NONE


cdef inline const ListC* options(const StateC* s) noexcept nogil:
    return <const ListC*>s.system.own


cdef inline int n_items(const StateC* s) noexcept nogil:
    """The length of lambda1 and lambda2 together."""
    return s.system.explicit_root + s.b - s.start


cdef inline int item(const StateC* s, int k) noexcept nogil:
    """The k-th item of lambda1 (ROOT is n), counted from its end, from 1."""
    k = s.numbers[N_LAMBDA1] - k
    return s.n if k < s.system.explicit_root else s.start + k - s.system.explicit_root


cdef inline int* marks(const StateC* s) noexcept nogil:
    return s.own + MARK * (s.n + 1)


cdef inline bint may_break(const StateC* s) noexcept nogil:
    """Whether a sentence start can be made before j: nothing has been done with j yet."""
    return at_start(s) and s.numbers[N_LAMBDA1] == n_items(s)


cdef inline bint must_break(const StateC* s) noexcept nogil:
    return may_break(s) and s.constraint[s.b] == 1


cdef inline bint gold_breaks(const StateC* s, const GoldC* gold) noexcept nogil:
    """Whether a sentence start can be made before j that gold has, too."""
    return may_break(s) and gold.sent_start[s.b] == 1
