"""The forms of arc-standard and arc-eager with ROOT on the stack and arcs between the stack and the
buffer, once more: immutable configurations, no tables, search."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.naive.arc_eager import attach
from tests.naive.search import ROOT, Action, Label, Searched, gold_head, put
from tests.naive.trees import Tree


@dataclass(frozen=True)
class State:
    """A configuration over n words.

    behind: the words behind the end that BREAK has made, while the sentence before it goes on.
    first: the sentence's first word. returned: the word that RIGHT-ARC put back, if it waits.
    """

    n: int
    preset: tuple[int, ...]
    buffer: tuple[int, ...]
    stack: tuple[int, ...] = (ROOT,)
    behind: tuple[int, ...] = ()
    first: int = 0
    returned: tuple[int, ...] = ()
    heads: tuple[int | None, ...] = ()
    labels: tuple[Label, ...] = ()
    starts: tuple[bool, ...] = ()

    @property
    def is_final(self) -> bool:
        return self.stack == (ROOT,) and not self.buffer and not self.behind

    def is_headless(self, word: int) -> bool:
        return word != ROOT and self.heads[word] is None


@dataclass(frozen=True)
class Form(Searched):
    """What both forms share."""

    def initial(self, n: int, sent_starts: tuple[int, ...] | None = None) -> State:
        return State(**self.blank(n, sent_starts), buffer=tuple(range(n)))

    def break_at(self, state: State, place: int) -> list[Action]:
        """BREAK before this place of the buffer, where it is legal."""
        if not self.segment or state.behind or place >= len(state.buffer):
            return []
        word = state.buffer[place]
        free = word > state.first and word not in state.heads and state.preset[word] != -1
        return [Action("BREAK")] if free else []

    def end_at(self, state: State, place: int) -> State:
        starts = put(state.starts, state.buffer[place], True)
        return finished(
            replace(state, buffer=state.buffer[:place], behind=state.buffer[place:], starts=starts)
        )

    def passed(self, state: State, word: int) -> bool:
        """Whether a word has been read."""
        return word not in state.buffer + state.behind or word in state.returned

    def key(self, state: State) -> object:
        """What tells apart configurations that differ in what may come."""
        headless = tuple(map(state.is_headless, state.stack))
        touched = bool(state.buffer) and state.buffer[0] in state.heads
        return state.stack, state.buffer, state.behind, state.first, headless, touched

    def wanted(self, state: State, gold: Tree, move: str, word: int) -> Action:
        """The move that gives word its gold head, with its gold label."""
        return Action(move, 1, self.gold_label(gold, word))


@dataclass(frozen=True)
class BufferArcs(Form):
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
            return attach(replace(state, stack=state.stack[:-1]), b0, s0, action.label)  # type: ignore[arg-type,return-value]
        after = replace(state, buffer=state.buffer[1:], returned=())
        if s0 != ROOT:
            after = replace(
                after, stack=state.stack[:-1], buffer=(s0, *after.buffer), returned=(s0,)
            )
        return finished(attach(after, s0, b0, action.label))  # type: ignore[arg-type]

    def static(self, state: State, gold: Tree) -> Action:
        """The canonical oracle: what it does where gold can be derived."""
        b0, s0 = state.buffer[0], state.stack[-1]
        if len(state.buffer) > 1 and self.is_break(gold, self.actions(state), state.buffer[1]):
            return Action("BREAK")

        def has_all(word: int) -> bool:
            kids = [w for w, head in enumerate(gold.heads) if head == word != w]
            return all(state.heads[kid] is not None for kid in kids)

        if gold_head(gold, s0) == b0 and has_all(s0):
            return self.wanted(state, gold, "LEFT-ARC", s0)
        if gold_head(gold, b0) == s0 and has_all(b0):
            return self.wanted(state, gold, "RIGHT-ARC", b0)
        return Action("SHIFT")


@dataclass(frozen=True)
class RootFirst(Form):
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
            return attach(replace(state, stack=state.stack[:-1]), b0, s0, action.label)  # type: ignore[arg-type,return-value]
        pushed = replace(state, stack=(*state.stack, b0), buffer=state.buffer[1:])
        if action.move == "SHIFT":
            return pushed
        return attach(pushed, s0, b0, action.label)  # type: ignore[arg-type,return-value]

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
            return self.wanted(state, gold, "LEFT-ARC", s0)
        if gold_head(gold, b0) == s0:
            return self.wanted(state, gold, "RIGHT-ARC", b0)
        if not state.is_headless(s0) and any(map(linked, state.stack[:-1])):
            return Action("REDUCE")
        return Action("SHIFT")


def finished(state: State) -> State:
    """The fresh configuration behind a sentence that is complete."""
    if state.stack == (ROOT,) and not state.buffer and state.behind:
        return replace(state, buffer=state.behind, behind=(), first=state.behind[0])
    return state
