"""What the second implementations share: actions, and labels of arcs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.naive.trees import Tree, roots_of

ROOT = -1
Label = str | None


class Action(NamedTuple):
    """A transition."""

    move: str
    k: int = 1
    label: Label = None


@dataclass(frozen=True)
class System:
    """Options of every system; ``labels`` None is unlabelled."""

    labels: tuple[str, ...] | None = None
    single_root: bool = False
    segment: bool = False
    root_label: str | tuple[str, ...] | None = None

    def blank(self, n: int, sent_starts: tuple[int, ...] | None) -> dict[str, Any]:
        """What every first configuration has."""
        preset = (0,) * n if sent_starts is None else tuple(sent_starts)
        nothing, first = (None,) * n, (True,) + (False,) * (n - 1)
        return {"n": n, "preset": preset, "heads": nothing, "labels": nothing, "starts": first}

    def arc_labels(self, head: int) -> tuple[Label, ...]:
        """The labels that an arc from head can take."""
        if self.labels is None:
            return (None,)
        if self.root_label is None:
            return self.labels
        roots = roots_of(self.root_label)
        return tuple(label for label in self.labels if (label in roots) == (head == ROOT))

    def gold_label(self, gold: Tree, word: int) -> Label:
        """The label that the arc to a word should have; None: any."""
        return None if self.labels is None or gold.labels is None else gold.labels[word]

    def is_break(self, gold: Tree, legal: list[Action], word: int) -> bool:
        """Whether BREAK is legal, and a sentence of the gold tree starts at the word behind."""
        if Action("BREAK") not in legal or gold.sent_starts is None:
            return False
        return bool(gold.sent_starts[word])


def gold_head(gold: Tree, word: int) -> int | None:
    """The head that a word should have: ROOT for children of ROOT, which itself has none."""
    if word == ROOT:
        return None
    return ROOT if gold.heads[word] == word else gold.heads[word]


def put(items: tuple, place: int, item: object) -> tuple:
    """A copy with one item exchanged."""
    return (*items[:place], item, *items[place + 1 :])
