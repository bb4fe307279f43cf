"""Arc-standard and SwapStandard once more: immutable configurations, no tables, search."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.naive.arc_eager import attach
from tests.naive.search import ROOT, Action, Label, Searched, gold_head, put
from tests.naive.trees import Tree


@dataclass(frozen=True)
class State:
    """A configuration over n words.

    The sentence's buffer: the words put back, then those from ``b`` up to the end of the text or
    (``closed``) none of them. ``first``: the sentence's first word.
    """

    n: int
    preset: tuple[int, ...]
    stack: tuple[int, ...] = (ROOT,)
    returned: tuple[int, ...] = ()
    b: int = 0
    first: int = 0
    closed: bool = False
    heads: tuple[int | None, ...] = ()
    labels: tuple[Label, ...] = ()
    starts: tuple[bool, ...] = ()

    @property
    def buffer(self) -> tuple[int, ...]:
        """The buffer of the current sentence, front first."""
        return self.returned + (() if self.closed else tuple(range(self.b, self.n)))

    @property
    def is_final(self) -> bool:
        return self.stack == (ROOT,) and not self.buffer and not self.closed


@dataclass(frozen=True)
class ArcStandard(Searched):
    """The system; ``swap``: with SWAP."""

    swap: bool = False

    def initial(self, n: int, sent_starts: tuple[int, ...] | None = None) -> State:
        return State(**self.blank(n, sent_starts))

    def actions(self, state: State) -> list[Action]:
        """The legal actions in the order SHIFT, LEFT-ARCs, RIGHT-ARCs, SWAP, BREAK."""
        at_start = (
            self.segment
            and not state.closed
            and not state.returned
            and state.first < state.b < state.n
            and state.preset[state.b] != -1
        )
        if at_start and state.preset[state.b] == 1:
            return [Action("BREAK")]
        legal = []
        if state.buffer:
            legal.append(Action("SHIFT"))
        if len(state.stack) > 1:
            s1, s0 = state.stack[-2:]
            if s1 != ROOT:
                legal += [Action("LEFT-ARC", 1, label) for label in self.arc_labels(s0)]
            if s1 != ROOT or not (self.single_root and state.buffer):
                legal += [Action("RIGHT-ARC", 1, label) for label in self.arc_labels(s1)]
            if self.swap and s1 != ROOT and s1 < s0:
                legal.append(Action("SWAP"))
        if at_start:
            legal.append(Action("BREAK"))
        return legal

    def apply(self, state: State, action: Action) -> State:
        """The configuration after a legal action."""
        move, _, label = action
        stack = state.stack
        if move == "BREAK":
            after = replace(state, closed=True, starts=put(state.starts, state.b, True))
        elif move == "SHIFT":
            after = replace(state, stack=(*stack, state.buffer[0]))
            if state.returned:
                return replace(after, returned=state.returned[1:])
            return replace(after, b=state.b + 1)
        elif move == "SWAP":
            return replace(
                state, stack=(*stack[:-2], stack[-1]), returned=(stack[-2], *state.returned)
            )
        elif move == "LEFT-ARC":
            after = replace(state, stack=(*stack[:-2], stack[-1]))
            after = attach(after, stack[-1], stack[-2], label)  # type: ignore[arg-type]
        else:
            after = replace(state, stack=stack[:-1])
            after = attach(after, stack[-2], stack[-1], label)  # type: ignore[arg-type]
        if after.closed and after.stack == (ROOT,) and not after.returned:
            return replace(after, closed=False, first=after.b)
        return after

    def static(self, state: State, gold: Tree) -> Action:
        """The canonical oracle (with SWAP: EAGER): what it does where gold can be derived."""
        legal = {(action.move, action.label): action for action in self.actions(state)}

        def choose(move: str, dependent: int) -> Action | None:
            waiting = [word for word in (*state.stack, *state.buffer) if word != ROOT]
            if any(gold_head(gold, word) == dependent for word in waiting):
                return None
            return legal.get((move, self.gold_label(gold, dependent)))

        if self.is_break(gold, list(legal.values()), state.b):
            return Action("BREAK")
        if len(state.stack) > 1:
            s1, s0 = state.stack[-2:]
            if s1 != ROOT and gold_head(gold, s1) == s0 and (action := choose("LEFT-ARC", s1)):
                return action
            if gold_head(gold, s0) == s1 and (action := choose("RIGHT-ARC", s0)):
                return action
            if ("SWAP", None) in legal:
                order = projective_order(gold.heads)
                if order.index(s0) < order.index(s1):
                    return legal["SWAP", None]
        return legal["SHIFT", None]

    def passed(self, state: State, word: int) -> bool:
        """Whether a word has been read."""
        return word < state.b

    def key(self, state: State) -> object:
        """What tells apart configurations that differ in what may come."""
        return state.stack, state.returned, state.b, state.first == state.b, state.closed


def projective_order(heads: tuple[int | None, ...]) -> list[int]:
    """The in-order traversal of a tree, dependents in text order."""

    def below(word: int) -> list[int]:
        kids = [w for w, head in enumerate(heads) if head == word != w]
        left = [w for kid in kids if kid < word for w in below(kid)]
        return [*left, word, *(w for kid in kids if kid > word for w in below(kid))]

    return [w for root, head in enumerate(heads) if head == root for w in below(root)]


def lattice(system: ArcStandard, gold: Tree) -> dict[State, dict[Action, tuple[State, int | None]]]:
    """All configurations on the way to the tree, with what leads where: arcs of the tree, each when
    the dependent has its own; SWAPs into the projective order; SHIFTs, not past a sentence start.

    Each move with the configuration behind it and the fewest SWAPs from there on to the tree, or
    None where the tree cannot be reached.
    """
    order = {word: i for i, word in enumerate(projective_order(gold.heads))}
    found: dict[State, dict[Action, tuple[State, int | None]]] = {}

    def fits(state: State, action: Action) -> bool:
        if action.move == "BREAK":
            return bool(gold.sent_starts is not None and gold.sent_starts[state.b])
        if action.move == "SHIFT":
            starts = gold.sent_starts is not None and not state.returned and state.b > state.first
            return not (starts and gold.sent_starts[state.b])  # type: ignore[index]
        s1, s0 = state.stack[-2:]
        if action.move == "SWAP":
            return order[s0] < order[s1]
        head, word = (s0, s1) if action.move == "LEFT-ARC" else (s1, s0)
        waiting = [w for w in (*state.stack, *state.buffer) if w != ROOT]
        fits = gold_head(gold, word) == head
        return fits and not any(gold_head(gold, w) == word for w in waiting)

    def expand(state: State) -> int | None:
        if state not in found:
            found[state] = {}
            for action in system.actions(state):
                if fits(state, action):
                    after = system.apply(state, action)
                    found[state][action] = (after, expand(after))
        if state.is_final:
            return 0
        return min(
            (
                swaps + (action.move == "SWAP")
                for action, (_, swaps) in found[state].items()
                if swaps is not None
            ),
            default=None,
        )

    expand(system.initial(len(gold.heads)))
    return found
