"""A step of a search: the best move with its best label; and making a chosen move."""
from spacy_nmparse.search.choice cimport ChoiceC, SearchC
from spacy_nmparse.systems.structs cimport StateC


cdef void choose_best(SearchC* search, ChoiceC* best) noexcept nogil
cdef void make_move(SearchC* search, const ChoiceC* choice) noexcept nogil


cdef inline int next_end(const StateC* s) noexcept nogil:
    """The first word before which the sentence can still end."""
    return min(s.end, s.b + (s.system.breaks_behind and s.n_rebuffer == 0))
