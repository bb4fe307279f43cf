"""Actions, and what others must know of moves."""

from __future__ import annotations

from typing import NamedTuple


class Action(NamedTuple):
    """A transition: the move's name, k (1 but for non-local arcs), label or None."""

    move: str
    k: int = 1
    label: str | None = None


class Move(NamedTuple):
    """Facts of a move that code outside its system needs.

    labelled: whether its actions have labels.
    notes_label: whether it pushes a word with the label that a later move may give to it.
    ends_sentence: whether it closes the sentence, which must then be complete.
    opens_crossing: whether it makes no arc, but arcs that cross possible.
    features: names of the features, besides the default ones, that a scorer of it should look at.
    colour: of the move in pictures and pages (``#rrggbb``), or None.
    """

    name: str
    labelled: bool
    notes_label: bool
    ends_sentence: bool
    opens_crossing: bool
    features: tuple[str, ...]
    colour: str | None
