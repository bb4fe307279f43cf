"""Where sentences start and end: BREAK, what it costs, and roots."""
from spacy_nmparse.systems.gold cimport GoldC, far_end
from spacy_nmparse.systems.state cimport NONE, StateC
from spacy_nmparse.systems.structs cimport SystemC, inner_t
from spacy_nmparse.systems.views cimport ViewC


cdef bint can_break(const StateC* s, int k) noexcept nogil
cdef void do_break(StateC* s, int k, int l, int push_label) noexcept nogil

cdef int least_rest(
    const StateC* s, const GoldC* gold, const ViewC* v, inner_t inner, bint end_attaches
) noexcept nogil
cdef int shift_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int break_rest(const StateC* s, const GoldC* gold, int k) noexcept nogil
cdef int decided_starts(const StateC* s, const GoldC* gold) noexcept nogil


cdef inline bint may_break(const StateC* s) noexcept nogil:
    """Whether a sentence start can be made before B0: the next unread word, of which nothing has
    been read or done yet."""
    return (
        s.system.segment and s.start < s.b < s.end and s.n_rebuffer == 0 and s.n_left[s.b] == 0
        and s.head[s.b] == NONE and s.constraint[s.b] != -1
    )


cdef inline bint must_break(const StateC* s) noexcept nogil:
    return may_break(s) and s.constraint[s.b] == 1


cdef inline bint gold_breaks(const StateC* s, const GoldC* gold) noexcept nogil:
    """Whether a sentence start can be made before B0 that gold has, too."""
    return may_break(s) and gold.sent_start[s.b] == 1


cdef inline int missed_start(const StateC* s, const GoldC* gold) noexcept nogil:
    """Errors of a move that reads the next word: it does not start a sentence."""
    return s.system.segment and s.b != s.start and gold.sent_start[s.b] == 1


cdef inline bint may_end(const StateC* s, const GoldC* gold, int e) noexcept nogil:
    """Whether a sentence may end before word e, which is not known not to start one."""
    return gold.sent_start[e] != 0 and s.constraint[e] != -1 and e > s.start


cdef inline int errors_behind(const StateC* s, const GoldC* gold, int e) noexcept nogil:
    """Errors from e on, when a sentence starts there."""
    return gold.lost_from[e] + (gold.surplus_from[e] if s.system.single_root else 0)


cdef inline void finish(StateC* s) noexcept nogil:
    """Where ROOT waits at the bottom of the stack: if the sentence that BREAK has closed is
    complete, a fresh one starts behind it."""
    if s.n_stack == 1 and s.n_rebuffer == 0 and s.b == s.end and s.end < s.n:
        s.start = s.end
        s.end = s.n
