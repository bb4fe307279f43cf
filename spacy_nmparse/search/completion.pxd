"""Completion of the trees of systems that can end with several headless words."""
from spacy_nmparse.search.common cimport ScratchC
from spacy_nmparse.scorers.scorer cimport ScorerC
from spacy_nmparse.systems.state cimport StateC
from spacy_nmparse.systems.system cimport SystemC


cdef bint needs_completion(const SystemC* system) noexcept nogil
cdef void complete(
    const SystemC* system, const ScorerC* scorer, ScratchC* scratch
) noexcept nogil
