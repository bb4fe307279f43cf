"""Arc-standard and SwapStandard once more: immutable configurations, no tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.naive.arc_eager import attach
from tests.naive.system import ROOT, Action, Label, System, gold_head, put
from tests.naive.trees import Tree


@dataclass(frozen=True)
class State:
    """A configuration over n words, with ROOT at the bottom of the stack.

    behind: the words behind the end that BREAK has made, while the sentence before it goes on.
    first: the sentence's first word. returned: the words of the buffer that were put back.
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
class Rooted(System):
    """What systems share whose stack begins with ROOT."""

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


def finished(state: State) -> State:
    """The fresh configuration behind a sentence that is complete."""
    if state.stack == (ROOT,) and not state.buffer and state.behind:
        return replace(state, buffer=state.behind, behind=(), first=state.behind[0])
    return state


@dataclass(frozen=True)
class ArcStandard(Rooted):
    """The system; ``swap``: with SWAP."""

    swap: bool = False

    def actions(self, state: State) -> list[Action]:
        """The legal actions in the order SHIFT, LEFT-ARCs, RIGHT-ARCs, SWAP, BREAK."""
        breaks = [] if state.returned else self.break_at(state, 0)
        if breaks and state.preset[state.buffer[0]] == 1:
            return breaks
        legal = [Action("SHIFT")] if state.buffer else []
        if len(state.stack) > 1:
            s1, s0 = state.stack[-2:]
            if s1 != ROOT:
                legal += [Action("LEFT-ARC", 1, label) for label in self.arc_labels(s0)]
            if s1 != ROOT or not (self.single_root and state.buffer):
                legal += [Action("RIGHT-ARC", 1, label) for label in self.arc_labels(s1)]
            if self.swap and s1 != ROOT and s1 < s0:
                legal.append(Action("SWAP"))
        return legal + breaks

    def apply(self, state: State, action: Action) -> State:
        """The configuration after a legal action."""
        *below, s0 = state.stack
        if action.move == "BREAK":
            return self.end_at(state, 0)
        if action.move == "SHIFT":
            front, *buffer = state.buffer
            returned = state.returned[1:]
            return replace(
                state, stack=(*state.stack, front), buffer=tuple(buffer), returned=returned
            )
        s1 = below.pop()
        if action.move == "SWAP":
            back = {"buffer": (s1, *state.buffer), "returned": (s1, *state.returned)}
            return replace(state, stack=(*below, s0), **back)
        head, word = (s0, s1) if action.move == "LEFT-ARC" else (s1, s0)
        return finished(attach(replace(state, stack=(*below, head)), head, word, action.label))

    def static(self, state: State, gold: Tree) -> Action:
        """The canonical oracle (with SWAP: EAGER): what it does where gold can be derived."""
        legal = {(action.move, action.label): action for action in self.actions(state)}

        def choose(move: str, dependent: int) -> Action | None:
            waiting = [word for word in (*state.stack, *state.buffer) if word != ROOT]
            if any(gold_head(gold, word) == dependent for word in waiting):
                return None
            return legal.get((move, self.gold_label(gold, dependent)))

        if self.is_break(gold, list(legal.values()), next(iter(state.buffer), ROOT)):
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

    def starts(state: State) -> bool:
        return bool(gold.sent_starts and gold.sent_starts[state.buffer[0]])

    def fits(state: State, action: Action) -> bool:
        if action.move == "BREAK":
            return starts(state)
        if action.move == "SHIFT":
            return state.returned != () or state.buffer[0] == state.first or not starts(state)
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
