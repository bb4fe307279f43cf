"""A step of a search: the best move with its best label; and making a chosen move."""
from spacy_nmparse.scorers.softmax cimport argmax, probability_of
from spacy_nmparse.search.choice cimport begin_choice, choose_label, find_moves
from spacy_nmparse.search.completion cimport complete
from spacy_nmparse.search.confidence cimport (
    BeforeC,
    is_only_word,
    record_made,
    record_missed,
    record_attaching,
)
from spacy_nmparse.systems.structs cimport MoveC


cdef void choose_best(SearchC* search, ChoiceC* best) noexcept nogil:
    """Choose the legal move that the scorer likes best, of equal ones the first, and its label."""
    cdef int top, kind
    find_moves(search)
    top = argmax(search.scores, search.n, NULL)
    kind = begin_choice(search, &search.candidates[top], best)
    if search.confidence.head is not NULL:
        record_attaching(search)
        if search.n > 1 and not is_only_word(search):
            best.move_p = probability_of(search.scores, search.n, NULL, top)
    choose_label(search, best, kind)


cdef void make_move(SearchC* search, const ChoiceC* choice) noexcept nogil:
    """Make a move, before one that ends a sentence complete it; note how sure the search is."""
    cdef const MoveC* move = &search.system.moves[choice.move.move]
    cdef BeforeC before
    if move.ends_sentence:
        complete(search)
    if search.confidence.head is not NULL:
        record_missed(search, &choice.move, &before)
    move.effect(search.s, choice.move.k, choice.label, choice.noted)
    if search.confidence.head is not NULL:
        record_made(search, choice, &before)
