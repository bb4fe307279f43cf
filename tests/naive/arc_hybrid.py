"""The arc-hybrid system once more: arc-eager's configurations, whose stack items have no heads."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.naive.arc_eager import ArcEager, State, attach
from tests.naive.system import ROOT, Action, Label, gold_head
from tests.naive.trees import Tree


@dataclass(frozen=True)
class ArcHybrid(ArcEager):
    """The system. SHIFT and BREAK are arc-eager's."""

    def actions(self, state: State) -> list[Action]:
        """The legal actions in the order SHIFT, LEFT-ARC, RIGHT-ARC, BREAK."""
        if not state.buffer:
            return []
        b0, stack = state.buffer[0], state.stack
        if self.segment and stack and b0 != ROOT and state.preset[b0] == 1:
            return [Action("BREAK")]
        legal = [Action("SHIFT")] if b0 != ROOT or not stack else []
        if stack and not (b0 == ROOT and self.single_root and len(stack) > 1):
            legal += [Action("LEFT-ARC", 1, label) for label in self.arc_labels(b0)]
        if len(stack) > 1:
            legal += [Action("RIGHT-ARC", 1, label) for label in self.arc_labels(stack[-2])]
        untouched = b0 not in (ROOT, *state.heads)
        if self.segment and stack and untouched and state.preset[b0] != -1:
            legal.append(Action("BREAK"))
        return legal

    def apply(self, state: State, action: Action, push_label: Label = None) -> State:
        """The configuration after a legal action."""
        if not action.move.endswith("ARC"):
            return super().apply(state, action)
        head = state.buffer[0] if action.move == "LEFT-ARC" else state.stack[-2]
        popped = replace(state, stack=state.stack[:-1])
        return attach(popped, head, state.stack[-1], action.label)

    def static(self, state: State, gold: Tree) -> Action:
        """The canonical oracle: what it does where gold can still be derived."""
        legal = self.actions(state)
        b0 = state.buffer[0]
        if self.is_break(gold, legal, b0):
            return Action("BREAK")
        for move, _, label in legal:
            if not move.endswith("ARC"):
                continue
            word = state.stack[-1]
            head = b0 if move == "LEFT-ARC" else state.stack[-2]
            waits = any(gold.heads[w] == word != w for w in state.buffer if w != ROOT)
            wanted = self.gold_label(gold, word)
            right = gold_head(gold, word) == head and label == wanted
            if right and (move == "LEFT-ARC" or not waits):
                return Action(move, 1, label)
        return Action("SHIFT")
