"""Greedy search one configuration at a time, and what a move has changed: for derivations."""
from spacy_nmparse.search.choice cimport (
    ARC_LABEL,
    NONE,
    ChoiceC,
    SearchC,
    StateC,
    begin_choice,
    choose_label,
    find_moves,
    search_free,
    search_init,
)
from spacy_nmparse.search.completion cimport complete
from spacy_nmparse.scorers.scorer cimport Scorer
from spacy_nmparse.scorers.softmax cimport probability_of
from spacy_nmparse.systems.configuration cimport State
from spacy_nmparse.systems.table cimport MoveTable

from collections import namedtuple

from spacy_nmparse.search.greedy import WINDOW
from spacy_nmparse.systems.action import Action
from spacy_nmparse.systems.names import MOVE_NAMES

Scored = namedtuple("Scored", ("action", "score", "share", "label_p", "noted"))
Scored.__doc__ = """A legal move as the model sees it, with the label that it likes best.

action: the move with that label.
score: what the scorer gives the move; greedy search takes the highest, of equal ones the first.
share: the move's probability among the legal ones.
label_p: the label's probability among those of the move; 1 where there is no choice.
noted: the label that a push notes, or None.
"""


cdef class Tracer:
    """Greedy search over one document, one configuration at a time: scores and choices.

    Args:
        system: the transition system.
        scored: the scores of a batch that is this document.
        n: its number of words, at least 1.

    Raises:
        ValueError: scores of another system or of other words. Methods raise it for configurations
            of another system or of other words.
    """
    cdef MoveTable system
    cdef Scorer scored
    cdef SearchC search
    cdef bint has_search
    cdef int n
    cdef int first              # the window of tables
    cdef int last

    def __cinit__(self, MoveTable system, Scorer scored, int n):
        scored.check_system(system)
        if not n == scored.n_words > 0:
            raise ValueError(f"The scores are those of {scored.n_words} words, not of {n}.")
        self.system = system
        self.scored = scored
        self.n = n
        search_init(&self.search, &system.c, &scored.c, n)
        self.has_search = True
        self.make_tables(0, n if n < 2 * WINDOW else WINDOW)

    def __dealloc__(self):
        if self.has_search:
            search_free(&self.search)

    cdef int make_tables(self, int first, int last) except -1:
        self.first = first
        self.last = last
        self.scored.set_window(first, last)
        self.scored.begin(0)
        return 0

    cdef int look_at(self, State state) except -1:
        """Make a configuration the search's current one, and the tables reach as far as it looks,
        as in greedy.parse."""
        cdef const StateC* s = &state.c
        self.system.check_state(state)
        if s.n != self.n:
            raise ValueError(f"A configuration of {s.n} words: the document has {self.n}.")
        cdef int first = max(0, s.start - self.scored.margin)
        cdef int reach = s.b + self.scored.lookahead
        self.search.s = &state.c
        if first < self.first or (reach > self.last and self.last < self.n):
            self.make_tables(first, min(first + max(<int>WINDOW, 2 * (reach - first)), self.n))
        return 0

    def moves(self, State state):
        """The legal moves (list of ``Scored``), in the order of ``TransitionSystem.actions``, each
        with its best label."""
        cdef SearchC* search = &self.search
        cdef ChoiceC choice
        cdef int i, kind
        cdef float label_p
        self.look_at(state)
        find_moves(search)
        names = self.system.label_names
        result = []
        for i in range(search.n):
            kind = begin_choice(search, &search.candidates[i], &choice)
            choose_label(search, &choice, kind)
            label_p = 1
            if kind == ARC_LABEL:
                label_p = probability_of(
                    search.labels, self.scored.c.n_labels, search.mask, choice.label
                )
            result.append(Scored(
                Action(
                    MOVE_NAMES[self.system.c.moves[choice.move.move].name], choice.move.k,
                    None if choice.label == NONE else names[choice.label],
                ),
                search.scores[i], probability_of(search.scores, search.n, NULL, i),
                label_p, None if choice.noted == NONE else names[choice.noted],
            ))
        return result

    def complete(self, State state):
        """Give the words of the current sentence that have no head one, where the system leaves
        that to the scorer (list systems, at the end of a sentence). In place."""
        if self.search.completes:
            self.look_at(state)
            complete(&self.search)


def first_word(State state):
    """The first word of the current sentence."""
    return state.c.start


def changes(State before, State after):
    """The words whose head or label differs between two configurations over the same words: list
    of (word, head before, label before, head after, label after), heads and labels as in
    ``State.heads`` and ``State.labels``, but ROOT is ``systems.ROOT``. Raises ValueError where they
    are not over as many words."""
    cdef int w
    cdef int n = before.c.n
    if after.c.n != n:
        raise ValueError(f"Configurations of {n} and of {after.c.n} words are not compared.")
    found = []
    for w in range(min(before.c.start, after.c.start), n):
        if before.c.head[w] != after.c.head[w] or before.c.label[w] != after.c.label[w]:
            found.append((
                w,
                _head(before.c.head[w], n), before._label(before.c.label[w]),
                _head(after.c.head[w], n), after._label(after.c.label[w]),
            ))
    return found


cdef object _head(int head, int n):
    if head == NONE:
        return None
    return -1 if head == n else head
