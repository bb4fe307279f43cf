"""Losses where one tree grows at the top of the stack: arc-standard."""
from spacy_nmparse.lab.crossing.spans cimport SpanC
from spacy_nmparse.systems.gold cimport GoldC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.table cimport SystemC
from spacy_nmparse.systems.views cimport ViewC


cdef void fill_growing(const SystemC* system, const GoldC* gold, const SpanC* span) noexcept nogil
cdef void growing_losses(
    const StateC* s, const GoldC* gold, const SpanC* span, const ViewC* v, int* losses
) noexcept nogil
