"""Probabilities that a parser's scorer gives the actions of a configuration, to study search."""
from spacy_nmparse.search.choice cimport (
    ARC_LABEL,
    NONE,
    ChoiceC,
    SearchC,
    begin_choice,
    choose_label,
    find_moves,
    score_labels,
    search_free,
    search_init,
)
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.scorers.softmax cimport log_total
from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.table cimport MoveTable

from spacy_nmparse.systems.action import Action
from spacy_nmparse.systems.names import MOVE_NAMES


def probabilities(
    MoveTable system not None, Scorer scored not None, int offset, State state not None
):
    """The probabilities of the legal actions of a configuration.

    Args:
        system: the transition system.
        scored: the scores of the batch.
        offset: the batch's word that is the first of the configuration's.
        state: the configuration.

    Returns:
        A dict from ``Action`` to (log-probability of the move and its label, label that a push
        notes or None).

    Raises:
        ValueError: scores or a configuration of another system, or words that are not scored.
    """
    cdef SearchC search
    cdef ChoiceC choice
    cdef int i, label, kind
    cdef double total, label_total
    scored.check_system(system)
    system.check_state(state)
    if not 0 <= offset <= scored.n_words - state.c.n:
        raise ValueError(
            f"A configuration of {state.c.n} words from word {offset} on does not go with the "
            f"scores of {scored.n_words} words: take those of the same document."
        )
    if offset < scored.first_row or offset + state.c.n > scored.last_row:
        scored.set_window(offset, offset + state.c.n)
    scored.begin(offset)
    search_init(&search, &system.c, &scored.c, state.c.n)
    search.s = &state.c
    names = system.label_names
    result = {}
    try:
        find_moves(&search)
        total = log_total(search.scores, search.n, NULL)
        for i in range(search.n):
            kind = begin_choice(&search, &search.candidates[i], &choice)
            name, k = MOVE_NAMES[system.c.moves[choice.move.move].name], choice.move.k
            if kind == ARC_LABEL:
                score_labels(&search, &choice.move, kind)
                label_total = log_total(search.labels, system.c.n_labels, search.mask)
                for label in range(system.c.n_labels):
                    if search.mask[label]:
                        result[Action(name, k, names[label])] = (
                            search.scores[i] - total + search.labels[label] - label_total,
                            names[label],
                        )
                continue
            choose_label(&search, &choice, kind)
            result[Action(name, k, None if choice.label == NONE else names[choice.label])] = (
                search.scores[i] - total, None if choice.noted == NONE else names[choice.noted]
            )
    finally:
        search_free(&search)
    return result
