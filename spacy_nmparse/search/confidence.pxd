"""How sure a search is of each word's head and label."""
from spacy_nmparse.search.choice cimport ChoiceC, SearchC
from spacy_nmparse.systems.structs cimport CandidateC


# The words that a move may attach, and their heads before it.
cdef struct BeforeC:
    int words[4]
    int heads[4]


cdef bint is_only_word(const SearchC* search) noexcept nogil
cdef void record_attaching(SearchC* search) noexcept nogil
cdef void record_missed(SearchC* search, const CandidateC* c, BeforeC* before) noexcept nogil
cdef void record_made(SearchC* search, const ChoiceC* made, const BeforeC* before) noexcept nogil
