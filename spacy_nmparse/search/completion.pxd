"""Completion of the trees of systems that can end with several headless words."""
from spacy_nmparse.search.choice cimport SearchC


cdef void complete(SearchC* search) noexcept nogil
