"""Stretches of text in which gold arcs cross, and the tables of what is lost there."""
from spacy_nmparse.lab.crossing.spans cimport CrossingC, FormC
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport SystemC
from spacy_nmparse.systems.views cimport ViewC


cdef const CrossingC* crossing_of(
    const GoldC* gold, const SystemC* system, const FormC* form
) noexcept nogil
cdef int stretch_end(const SystemC* system, const GoldC* gold, int first) noexcept nogil
cdef int rest_of_stretch(
    const StateC* s, const GoldC* gold, const CrossingC* c, const ViewC* v
) noexcept nogil
