"""What the second implementations share: actions, labels of arcs, costs by search."""

from __future__ import annotations

from collections.abc import Iterator
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
class Searched:
    """A system whose costs are differences of losses; ``labels`` None is unlabelled."""

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

    def wrong_arc(self, state: Any, gold: Tree, word: int) -> bool:
        """Whether a word has another head than in the gold tree, or another label."""
        if gold.heads[word] is None:
            return False
        label = self.gold_label(gold, word)
        return state.heads[word] != gold.heads[word] or label not in (None, state.labels[word])

    def wrong_start(self, state: Any, gold: Tree, word: int) -> bool:
        """Whether a sentence starts at a word, or not, against the gold tree."""
        start = None if gold.sent_starts is None else gold.sent_starts[word]
        return self.segment and start not in (None, state.starts[word])

    def is_break(self, gold: Tree, legal: list[Action], word: int) -> bool:
        """Whether BREAK is legal, and a sentence of the gold tree starts at the word behind."""
        if Action("BREAK") not in legal or gold.sent_starts is None:
            return False
        return bool(gold.sent_starts[word])

    def settled(self: Any, state: Any, gold: Tree) -> int:
        """Errors that nothing can change any more: of words whose arcs are ``made``, and of starts
        that are there, or were ``passed``."""
        errors = 0
        for word in range(state.n):
            if self.made(state, word):
                errors += self.wrong_arc(state, gold, word)
            if word > 0 and (state.starts[word] or self.passed(state, word)):
                errors += self.wrong_start(state, gold, word)
        return errors

    def made(self, state: Any, word: int) -> bool:
        """Whether a word has its last head: it has one, where none is taken back."""
        return state.heads[word] is not None

    def afters(self: Any, state: Any) -> Iterator[Any]:
        """The configurations that may come next."""
        for action in self.actions(state):
            yield self.apply(state, action)

    def rest(self: Any, state: Any, gold: Tree, known: dict[object, int]) -> int:
        """Least number of further errors; ``key`` tells apart configurations that differ in it."""
        key = self.key(state)
        if key not in known:
            now = self.settled(state, gold)
            after = self.afters(state)
            known[key] = min(
                (self.settled(one, gold) + self.rest(one, gold, known) - now for one in after),
                default=0,
            )
        return known[key]

    def loss(self: Any, state: Any, gold: Tree, known: dict[object, int]) -> int:
        """The least loss of all final configurations that can be reached, by search.

        known: what a search has found for the same gold tree and preset starts; kept up here.
        """
        return self.settled(state, gold) + self.rest(state, gold, known)

    def costs(
        self: Any, state: Any, gold: Tree, known: dict[object, int], *noted: Label
    ) -> dict[Action, int]:
        """The cost of each legal action, by search. noted: the label that a push notes."""
        now = self.loss(state, gold, known)
        return {
            action: self.loss(self.apply(state, action, *noted), gold, known) - now
            for action in self.actions(state)
        }


def gold_head(gold: Tree, word: int) -> int | None:
    """The head that a word should have: ROOT for children of ROOT, which itself has none."""
    if word == ROOT:
        return None
    return ROOT if gold.heads[word] == word else gold.heads[word]


def put(items: tuple, place: int, item: object) -> tuple:
    """A copy with one item exchanged."""
    return (*items[:place], item, *items[place + 1 :])
