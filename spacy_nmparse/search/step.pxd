"""A step of a search: the best move with its best label; and making a chosen move."""
from spacy_nmparse.search.choice cimport ChoiceC, SearchC


cdef void choose_best(SearchC* search, ChoiceC* best) noexcept nogil
cdef void make_move(SearchC* search, const ChoiceC* choice) noexcept nogil
