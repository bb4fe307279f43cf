"""Stretches of text in which gold arcs cross, and the tables of what is lost there."""
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC, leave_t
from spacy_nmparse.systems.views cimport ViewC


cdef void use_tables(SystemC* system, int tabulates, leave_t leave=*) noexcept
cdef int rest_of_stretch(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil


cdef inline bint crosses_at(const StateC* s, const GoldC* gold, const ViewC* v) noexcept nogil:
    """Whether the tables tell what is lost from the view on."""
    return (
        s.system.tabulates and gold.crossing != NULL and not v.closed and v.b < gold.n
        and gold.crossing.size[v.b] > 0
    )
