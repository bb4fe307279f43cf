"""The arc-eager system once more: immutable configurations, no tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tests.naive.system import ROOT, Action, Label, System, gold_head, put
from tests.naive.trees import Tree


@dataclass(frozen=True)
class State:
    """A configuration over n words.

    The buffer holds the words that Unshift put back; the words from ``b`` on, up to the end of the
    text or (``broken``) not one of them; and ROOT while ``root_waits``.
    """

    n: int
    preset: tuple[int, ...]
    stack: tuple[int, ...] = ()
    b: int = 0
    broken: bool = False
    root_waits: bool = True
    heads: tuple[int | None, ...] = ()
    labels: tuple[Label, ...] = ()
    noted: tuple[Label, ...] = ()
    starts: tuple[bool, ...] = ()
    returned: tuple[int, ...] = ()
    revised: int | None = None

    @property
    def buffer(self) -> tuple[int, ...]:
        """The buffer of the current sentence, front first."""
        words = () if self.broken else tuple(range(self.b, self.n))
        return self.returned + words + (ROOT,) * self.root_waits

    @property
    def is_final(self) -> bool:
        return not self.buffer

    def kids(self, head: int) -> list[int]:
        """The dependents of a word, in text order."""
        return [w for w, h in enumerate(self.heads) if h == head and w != head]


@dataclass(frozen=True)
class ArcEager(System):
    """The system."""

    nonmonotonic_left: bool = False
    nonmonotonic_reduce: bool = False
    labelled_reduce: bool = False
    repairs: tuple[str, ...] = ()
    decoupled_repairs: bool = False
    unshift: bool = False
    push: str = "any"

    def initial(self, n: int, sent_starts: tuple[int, ...] | None = None) -> State:
        return State(**self.blank(n, sent_starts), noted=(None,) * n)

    def actions(self, state: State) -> list[Action]:
        """The legal actions, in no particular order."""
        if not state.buffer:
            return []
        b0 = state.buffer[0]
        stack = state.stack
        legal = []
        unread = b0 != ROOT and not state.returned
        if self.segment and stack and unread and state.preset[b0] == 1:
            return [Action("BREAK")]
        if not stack or (unread and self.push != "right_arc"):
            legal.append(Action("SHIFT"))
        if not stack:
            return legal
        s0 = stack[-1]
        headless = state.heads[s0] is None
        if b0 != ROOT and self.push != "shift":
            rights = ["RIGHT-ARC"]
            if self.lowers(state):
                rights.append("RIGHT-LOWER")
            chain = len(stack) > 2 and [state.heads[w] for w in stack[-2:]] == [*stack[-3:-1]]
            if "right_raise" in self.repairs and chain and state.revised != s0:
                rights.append("RIGHT-RAISE")
            if self.decoupled_repairs:
                legal += [Action(move) for move in rights[1:]]
                del rights[1:]
            legal += [Action(move, 1, label) for move in rights for label in self.arc_labels(s0)]
        if (headless or self.nonmonotonic_left) and not (
            b0 == ROOT and self.single_root and len(stack) > 1
        ):
            lefts = ["LEFT-ARC"]
            if "left_invert" in self.repairs and min(state.kids(s0), default=s0) < s0:
                if self.decoupled_repairs:
                    legal.append(Action("LEFT-INVERT"))
                else:
                    lefts.append("LEFT-INVERT")
            legal += [Action(move, 1, label) for move in lefts for label in self.arc_labels(b0)]
        if not headless or (len(stack) > 1 and self.unshift):
            legal.append(Action("REDUCE"))
        elif len(stack) > 1 and (self.nonmonotonic_reduce or (self.single_root and b0 == ROOT)):
            if self.labelled_reduce:
                legal += [Action("REDUCE", 1, label) for label in self.arc_labels(stack[-2])]
            else:
                legal.append(Action("REDUCE"))
        if self.segment and unread and b0 not in state.heads and state.preset[b0] != -1:
            legal.append(Action("BREAK"))
        return legal

    def lowers(self, state: State) -> list[int]:
        """The words that RIGHT-LOWER could make the head of S0, the one that it takes last."""
        if "right_lower" not in self.repairs or len(state.stack) < 2:
            return []
        s1, s0 = state.stack[-2:]
        if state.heads[s0] != s1 or state.revised == s0:
            return []
        return [word for word in state.kids(s1) if s1 < word < s0]

    def apply(self, state: State, action: Action, push_label: Label = None) -> State:
        """The configuration after a legal action."""
        move, _, label = action
        stack = state.stack
        b0 = state.buffer[0]
        if move == "BREAK":
            return replace(state, broken=True, starts=put(state.starts, b0, True))
        if move == "SHIFT" and b0 == ROOT:
            if state.broken:
                return replace(state, broken=False, revised=None)
            return replace(state, stack=(ROOT,), root_waits=False)
        if move == "RIGHT-LOWER":
            x = self.lowers(state)[-1]
            state = replace(state, stack=(*stack[:-1], x, stack[-1]))
            state = attach(state, x, stack[-1], state.labels[stack[-1]])
            if self.decoupled_repairs:
                return replace(state, revised=stack[-1])
            return self.apply(state, Action("RIGHT-ARC", 1, label), push_label)
        if move == "RIGHT-RAISE":
            state = replace(state, stack=(*stack[:-2], stack[-1]))
            state = attach(state, stack[-3], stack[-1], state.labels[stack[-1]])
            if self.decoupled_repairs:
                return replace(state, revised=stack[-1])
            return self.apply(state, Action("RIGHT-ARC", 1, label), push_label)
        if move in ("SHIFT", "RIGHT-ARC"):
            pushed = replace(
                state,
                stack=(*stack, b0),
                b=max(state.b, b0 + 1),
                returned=state.returned[1:],
                noted=put(state.noted, b0, push_label),
                revised=None,
            )
            return pushed if move == "SHIFT" else attach(pushed, stack[-1], b0, label)
        s0 = stack[-1]
        popped = replace(state, stack=stack[:-1])
        if move == "LEFT-ARC":
            return attach(popped, b0, s0, label)
        if move == "LEFT-INVERT":
            x = state.kids(s0)[0]
            inverted = attach(popped, x, s0, state.labels[x])
            if self.decoupled_repairs:
                free = {
                    "heads": put(inverted.heads, x, None),
                    "labels": put(inverted.labels, x, None),
                }
                return replace(inverted, stack=(*popped.stack, x), **free)
            return attach(inverted, b0, x, label)
        assert move == "REDUCE"
        if state.heads[s0] is not None:
            return popped
        if self.unshift:
            return replace(popped, returned=(s0, *state.returned))
        return attach(popped, stack[-2], s0, label if self.labelled_reduce else state.noted[s0])

    def static(self, state: State, gold: Tree) -> Action:
        """The canonical oracle: what it does where gold can still be derived."""
        legal = {(action.move, action.label): action for action in self.actions(state)}

        def choose(move: str, dependent: int) -> Action:
            return legal[move, self.gold_label(gold, dependent)]

        b0 = state.buffer[0]
        if self.is_break(gold, list(legal.values()), b0):
            return Action("BREAK")
        if state.stack:
            s0 = state.stack[-1]
            below = state.stack[:-1]
            if gold_head(gold, s0) == b0:
                return choose("LEFT-ARC", s0)
            if gold_head(gold, b0) == s0:
                return choose("RIGHT-ARC", b0)
            linked = any(gold_head(gold, w) == b0 or gold_head(gold, b0) == w for w in below)
            if state.heads[s0] is not None and (linked or b0 == ROOT):
                return legal["REDUCE", None]
        return legal["SHIFT", None]


def attach(state: Any, head: int, word: int, label: Label) -> Any:
    """With the arc head -> word, in place of the arc that word had."""
    return replace(
        state,
        heads=put(state.heads, word, word if head == ROOT else head),
        labels=put(state.labels, word, label),
    )
