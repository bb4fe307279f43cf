"""The 2-planar system once more: two stacks as tuples, planes by going round the crossing arcs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.naive import covington
from tests.naive.system import Action, put
from tests.naive.trees import Heads, Tree


@dataclass(frozen=True)
class State(covington.State):
    """A configuration: of list systems it has the words and arcs, and its lists are empty."""

    planes: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    active: int = 0
    switched: bool = False

    @property
    def stack(self) -> tuple[int, ...]:
        return self.planes[self.active]

    @property
    def other_stack(self) -> tuple[int, ...]:
        return self.planes[1 - self.active]


@dataclass(frozen=True)
class TwoPlanar(covington.Covington):
    """The system. The final trees are those of the list systems."""

    def initial(self, n: int, sent_starts: tuple[int, ...] | None = None) -> State:
        return State(**vars(super().initial(n, sent_starts)))

    def actions(self, state: State) -> list[Action]:  # type: ignore[override]
        """The legal actions in the order SHIFT, REDUCE, LEFT-ARC, RIGHT-ARC, SWITCH, BREAK."""
        if state.is_final:
            return []
        j = state.b
        fresh = state.heads[j] is None and j not in state.heads
        can_break = self.segment and fresh and not state.starts[j] and state.preset[j] != -1
        if can_break and state.preset[j] == 1:
            return [Action("BREAK")]
        legal = [Action("SHIFT")]
        if state.stack:
            top = state.stack[-1]
            legal.append(Action("REDUCE"))
            for move, head, word in (("LEFT-ARC", j, top), ("RIGHT-ARC", top, j)):
                if self.legal_arc(state, head, word):
                    legal += [Action(move, 1, label) for label in self.arc_labels(head)]
        if state.other_stack and not state.switched:
            legal.append(Action("SWITCH"))
        if can_break:
            legal.append(Action("BREAK"))
        return legal

    def apply(self, state: State, action: Action) -> State:  # type: ignore[override]
        """The configuration after a legal action."""
        move, _, label = action
        j = state.b
        if move == "BREAK":
            starts = put(state.starts, j, True)
            return replace(state, planes=((), ()), active=0, switched=False, starts=starts)
        if move == "SHIFT":
            first, second = state.planes
            return replace(state, planes=((*first, j), (*second, j)), b=j + 1, switched=False)
        if move == "SWITCH":
            return replace(state, active=1 - state.active, switched=True)
        if move == "REDUCE":
            return replace(state, planes=put(state.planes, state.active, state.stack[:-1]))
        top = state.stack[-1]
        head, word = (j, top) if move == "LEFT-ARC" else (top, j)
        heads, labels = put(state.heads, word, head), put(state.labels, word, label)
        return replace(state, heads=heads, labels=labels)

    def static(self, state: State, gold: Tree) -> Action:  # type: ignore[override]
        """The canonical oracle: what it does where gold can still be derived."""
        j = state.b
        if self.is_break(gold, self.actions(state), j):
            return Action("BREAK")
        planes = planes_of(gold.heads)
        for plane in (state.active, 1 - state.active):
            for word in reversed(state.planes[plane]):
                left, right = gold.heads[word] == j, gold.heads[j] == word
                dependent = word if left else j
                if not (left or right) or state.heads[dependent] is not None:
                    continue
                if planes[dependent] != plane:
                    continue
                if plane != state.active:
                    return Action("SWITCH")
                if word != state.stack[-1]:
                    return Action("REDUCE")
                label = self.gold_label(gold, dependent)
                return Action("LEFT-ARC" if left else "RIGHT-ARC", 1, label)
        return Action("SHIFT")


def crossed(heads: Heads, word: int) -> Iterator[int]:
    """The words whose arcs cross that of a word; arcs from ROOT cross none."""
    arcs = {w: (min(w, h), max(w, h)) for w, h in enumerate(heads) if h is not None and h != w}
    a, b = arcs.get(word, (0, 0))
    for other, (c, d) in arcs.items():
        if a < c < b < d or c < a < d < b:
            yield other


def planes_of(heads: Heads) -> dict[int, int]:
    """The plane of each word's arc: where arcs cross, the one whose dependent is first is in plane
    0, and those that cross it by turns in the other."""
    planes: dict[int, int] = {}
    for first in range(len(heads)):
        todo = [first]
        planes.setdefault(first, 0)
        while todo:
            word = todo.pop(0)
            for other in crossed(heads, word):
                if other not in planes:
                    planes[other] = 1 - planes[word]
                    todo.append(other)
    return planes


def is_two_planar(heads: Heads) -> bool:
    """Whether no two arcs that cross are in one plane."""
    planes = planes_of(heads)
    return all(planes[w] != planes[x] for w in range(len(heads)) for x in crossed(heads, w))
