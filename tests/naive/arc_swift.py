"""The arc-swift system once more: arc-eager's configurations, arcs that reach down the stack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.naive.arc_eager import ArcEager, State, attach
from tests.naive.system import ROOT, Action, Label, gold_head
from tests.naive.trees import Tree


@dataclass(frozen=True)
class ArcSwift(ArcEager):
    """The system. SHIFT and BREAK are arc-eager's."""

    def headless(self, state: State) -> list[int]:
        """Stack items without a head, the topmost first."""
        return [w for w in reversed(state.stack) if w != ROOT and state.heads[w] is None]

    def unshifted(self, state: State) -> tuple[tuple[int, ...], int]:
        """(stack, the word that a RIGHT-ARC attaches): where ROOT is first in the buffer, that is
        the topmost headless item, and what is above it is gone."""
        word = state.buffer[0]
        if word != ROOT:
            return state.stack, word
        word = self.headless(state)[0]
        return state.stack[: state.stack.index(word)], word

    def reach(self, state: State, stack: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        """(k, item) from the top down to the first headless item."""
        for k, item in enumerate(reversed(stack), start=1):
            yield k, item
            if state.heads[item] is None:
                return

    def actions(self, state: State) -> list[Action]:
        """The legal actions in the order SHIFT, LEFT-ARC, RIGHT-ARCs, BREAK."""
        if not state.buffer:
            return []
        b0 = state.buffer[0]
        waiting = self.headless(state)
        if self.segment and state.stack and b0 != ROOT and state.preset[b0] == 1:
            return [Action("BREAK")]
        legal = []
        if b0 != ROOT or not state.stack:
            legal.append(Action("SHIFT"))
        if waiting and not (b0 == ROOT and self.single_root and len(waiting) > 1):
            *_, (k, item) = self.reach(state, state.stack)
            assert item == waiting[0]
            legal += [Action("LEFT-ARC", k, label) for label in self.arc_labels(b0)]
        if state.stack and (b0 != ROOT or (self.single_root and len(waiting) > 1)):
            for k, item in self.reach(state, self.unshifted(state)[0]):
                legal += [Action("RIGHT-ARC", k, label) for label in self.arc_labels(item)]
        untouched = b0 not in (ROOT, *state.heads)
        if self.segment and state.stack and untouched and state.preset[b0] != -1:
            legal.append(Action("BREAK"))
        return legal

    def apply(self, state: State, action: Action, push_label: Label = None) -> State:
        """The configuration after a legal action."""
        move, k, label = action
        if move == "LEFT-ARC":
            popped = replace(state, stack=state.stack[:-k])
            return attach(popped, state.buffer[0], state.stack[-k], label)
        if move == "RIGHT-ARC":
            stack, word = self.unshifted(state)
            beneath = stack[: len(stack) - k + 1]
            pushed = replace(state, stack=(*beneath, word), b=max(state.b, word + 1))
            return attach(pushed, beneath[-1], word, label)
        return super().apply(state, action)

    def static(self, state: State, gold: Tree) -> Action:
        """The canonical oracle: what it does where gold can still be derived."""
        legal = self.actions(state)
        b0 = state.buffer[0]
        if self.is_break(gold, legal, b0):
            return Action("BREAK")
        for move, k, label in legal:
            if not move.endswith("ARC"):
                continue
            word = state.stack[-k] if move == "LEFT-ARC" else b0
            head = b0 if move == "LEFT-ARC" else state.stack[-k]
            if gold_head(gold, word) == head and label == self.gold_label(gold, word):
                return Action(move, k, label)
        return Action("SHIFT")
