"""The forms of arc-standard and arc-eager with ROOT on the stack and arcs between the stack and the
buffer, once more: immutable configurations, no tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.naive.arc_eager import attach
from tests.naive.arc_standard import Rooted, State, finished
from tests.naive.system import ROOT, Action, gold_head
from tests.naive.trees import Tree


@dataclass(frozen=True)
class BufferArcs(Rooted):
    """Arc-standard with arcs between the top of the stack and the front of the buffer."""

    def actions(self, state: State) -> list[Action]:
        """The legal actions in the order SHIFT, LEFT-ARCs, RIGHT-ARCs, BREAK."""
        if not state.buffer:
            return []
        breaks = self.break_at(state, 1)
        if breaks and state.preset[state.buffer[1]] == 1:
            return breaks
        b0, s0 = state.buffer[0], state.stack[-1]
        last = len(state.buffer) == 1
        legal = [] if last else [Action("SHIFT")]
        if s0 != ROOT:
            legal += [Action("LEFT-ARC", 1, label) for label in self.arc_labels(b0)]
        if s0 != ROOT or last or not self.single_root:
            legal += [Action("RIGHT-ARC", 1, label) for label in self.arc_labels(s0)]
        return legal + breaks

    def apply(self, state: State, action: Action) -> State:
        """The configuration after a legal action."""
        b0, s0 = state.buffer[0], state.stack[-1]
        if action.move == "BREAK":
            return self.end_at(state, 1)
        if action.move == "SHIFT":
            return replace(state, stack=(*state.stack, b0), buffer=state.buffer[1:], returned=())
        if action.move == "LEFT-ARC":
            return attach(replace(state, stack=state.stack[:-1]), b0, s0, action.label)
        after = replace(state, buffer=state.buffer[1:], returned=())
        if s0 != ROOT:
            after = replace(
                after, stack=state.stack[:-1], buffer=(s0, *after.buffer), returned=(s0,)
            )
        return finished(attach(after, s0, b0, action.label))

    def static(self, state: State, gold: Tree) -> Action:
        """The canonical oracle: what it does where gold can be derived."""
        b0, s0 = state.buffer[0], state.stack[-1]
        if len(state.buffer) > 1 and self.is_break(gold, self.actions(state), state.buffer[1]):
            return Action("BREAK")

        def has_all(word: int) -> bool:
            kids = [w for w, head in enumerate(gold.heads) if head == word != w]
            return all(state.heads[kid] is not None for kid in kids)

        if gold_head(gold, s0) == b0 and has_all(s0):
            return Action("LEFT-ARC", 1, self.gold_label(gold, s0))
        if gold_head(gold, b0) == s0 and has_all(b0):
            return Action("RIGHT-ARC", 1, self.gold_label(gold, b0))
        return Action("SHIFT")


@dataclass(frozen=True)
class RootFirst(Rooted):
    """Arc-eager with ROOT at the bottom of the stack."""

    def actions(self, state: State) -> list[Action]:
        """The legal actions in the order SHIFT, REDUCE, LEFT-ARCs, RIGHT-ARCs, BREAK."""
        s0 = state.stack[-1]
        headed = s0 != ROOT and not state.is_headless(s0)
        waiting = any(map(state.is_headless, state.stack))
        breaks = [] if waiting else self.break_at(state, 0)
        if breaks and state.preset[state.buffer[0]] == 1:
            return breaks
        legal = []
        last = state.buffer[1:] == () or (self.segment and state.preset[state.buffer[1]] == 1)
        if state.buffer and not last:
            legal.append(Action("SHIFT"))
        if headed and not (self.single_root and state.buffer and len(state.stack) == 2):
            legal.append(Action("REDUCE"))
        if state.buffer and state.is_headless(s0):
            labels = self.arc_labels(state.buffer[0])
            legal += [Action("LEFT-ARC", 1, label) for label in labels]
        if state.buffer and not (last and waiting):
            legal += [Action("RIGHT-ARC", 1, label) for label in self.arc_labels(s0)]
        return legal + breaks

    def apply(self, state: State, action: Action) -> State:
        """The configuration after a legal action."""
        s0 = state.stack[-1]
        if action.move == "BREAK":
            return self.end_at(state, 0)
        if action.move == "REDUCE":
            return finished(replace(state, stack=state.stack[:-1]))
        b0 = state.buffer[0]
        if action.move == "LEFT-ARC":
            return attach(replace(state, stack=state.stack[:-1]), b0, s0, action.label)
        pushed = replace(state, stack=(*state.stack, b0), buffer=state.buffer[1:])
        if action.move == "SHIFT":
            return pushed
        return attach(pushed, s0, b0, action.label)

    def static(self, state: State, gold: Tree) -> Action:
        """The canonical oracle: what it does where gold can be derived."""
        s0 = state.stack[-1]
        if not state.buffer:
            return Action("REDUCE")
        b0 = state.buffer[0]
        if self.is_break(gold, self.actions(state), b0):
            return Action("BREAK")

        def linked(word: int) -> bool:
            return gold_head(gold, b0) == word or gold_head(gold, word) == b0

        if state.is_headless(s0) and gold_head(gold, s0) == b0:
            return Action("LEFT-ARC", 1, self.gold_label(gold, s0))
        if gold_head(gold, b0) == s0:
            return Action("RIGHT-ARC", 1, self.gold_label(gold, b0))
        if not state.is_headless(s0) and any(map(linked, state.stack[:-1])):
            return Action("REDUCE")
        return Action("SHIFT")
