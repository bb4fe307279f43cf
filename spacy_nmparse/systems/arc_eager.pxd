"""Arc-eager (Nivre 2003; Honnibal, Goldberg & Johnson 2013): preconditions, effects, costs."""
from spacy_nmparse.systems.arc_eager_options cimport EagerC
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport SystemC, MoveTable


cdef int shift_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef bint can_reduce(const StateC* s, int k) noexcept nogil
cdef void do_reduce(StateC* s, int k, int l, int push_label) noexcept nogil
cdef int reduce_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef bint can_left_arc(const StateC* s, int k) noexcept nogil
cdef void do_left_arc(StateC* s, int k, int l, int push_label) noexcept nogil
cdef int left_arc_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef bint can_right_arc(const StateC* s, int k) noexcept nogil
cdef void do_right_arc(StateC* s, int k, int l, int push_label) noexcept nogil
cdef int right_arc_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef int break_cost(
    const StateC* s, const GoldC* gold, int k, int label, int push_label
) noexcept nogil

cdef int reduced_head(const StateC* s, int k) noexcept nogil
cdef int reduced_dependent(const StateC* s, int k) noexcept nogil

cdef int arc_eager_loss(const StateC* s, const GoldC* gold) noexcept nogil


cdef class ArcEager(MoveTable):
    cdef EagerC own
    cdef EagerC own_monotonic
    cdef SystemC monotonic
    cdef int add_form(self) except -1
    cdef int _add_reduce(self) except -1
