"""What the second implementations share: actions, labels of arcs, costs by search."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.naive.trees import Tree

ROOT = -1
Label = str | None


class Action(NamedTuple):
    """A transition."""

    move: str
    k: int = 1
    label: Label = None


class Searched:
    """A system whose costs are differences of losses; ``labels`` None is unlabelled."""

    labels: tuple[str, ...] | None
    root_label: Label

    def arc_labels(self, head: int) -> tuple[Label, ...]:
        """The labels that an arc from head can take."""
        if self.labels is None:
            return (None,)
        if self.root_label is None:
            return self.labels
        if head == ROOT:
            return (self.root_label,)
        return tuple(label for label in self.labels if label != self.root_label)

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


def put(items: tuple, place: int, item: object) -> tuple:
    """A copy with one item exchanged."""
    return (*items[:place], item, *items[place + 1 :])
