"""The list systems once more: immutable configurations, paths walked arc by arc."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

from tests.naive.system import ROOT, Action, Label, System, gold_head, put
from tests.naive.trees import Tree, roots_of


@dataclass(frozen=True)
class State:
    """A configuration over n words. The buffer holds the words from ``b`` on.

    ``heads``: ROOT for children of ROOT, None for headless words.
    """

    n: int
    preset: tuple[int, ...]
    lambda1: tuple[int, ...]
    lambda2: tuple[int, ...]
    b: int
    heads: tuple[int | None, ...]
    labels: tuple[Label, ...]
    starts: tuple[bool, ...]

    @property
    def buffer(self) -> tuple[int, ...]:
        return tuple(range(self.b, self.n))

    @property
    def is_final(self) -> bool:
        return self.b == self.n

    def leads_to(self, upper: int | None, lower: int) -> bool:
        """Whether there is a path upper ->* lower, of no, one or more arcs."""
        word: int | None = lower
        while word is not None and word != ROOT:
            if word == upper:
                return True
            word = self.heads[word]
        return False

    @property
    def sentence(self) -> list[int]:
        """Word -> the number of its sentence."""
        return list(itertools.accumulate(self.starts))


@dataclass(frozen=True)
class Covington(System):
    """The systems."""

    non_local: bool = False
    nonmonotonic: bool = False
    explicit_root: bool = False

    def initial(self, n: int, sent_starts: tuple[int, ...] | None = None) -> State:
        root = (ROOT,) * self.explicit_root
        return State(**self.blank(n, sent_starts), lambda1=root, lambda2=(), b=0)

    def legal_arc(self, state: State, head: int, word: int) -> bool:
        if word == ROOT:
            return False
        if head == ROOT and self.single_root:
            here = state.sentence
            if any(h == ROOT and here[w] == here[word] for w, h in enumerate(state.heads)):
                return False
        if self.nonmonotonic:
            return True
        return state.heads[word] is None and not state.leads_to(word, head)

    def actions(self, state: State) -> list[Action]:
        """The legal actions in the order SHIFT, NO-ARC, LEFT-ARCs, RIGHT-ARCs, BREAK."""
        if state.is_final:
            return []
        j = state.b
        at_start = any(item != ROOT for item in state.lambda1) and not state.lambda2
        if self.segment and at_start and state.preset[j] == 1:
            return [Action("BREAK")]
        legal = [Action("SHIFT")]
        if state.lambda1 and not self.non_local:
            legal.append(Action("NO-ARC"))
        reach = len(state.lambda1) if self.non_local else min(1, len(state.lambda1))
        for move in ("LEFT-ARC", "RIGHT-ARC"):
            for k in range(1, reach + 1):
                i = state.lambda1[-k]
                head, word = (j, i) if move == "LEFT-ARC" else (i, j)
                if self.legal_arc(state, head, word):
                    legal += [Action(move, k, label) for label in self.arc_labels(head)]
        if self.segment and at_start and state.preset[j] != -1:
            legal.append(Action("BREAK"))
        return legal

    def apply(self, state: State, action: Action) -> State:
        """The configuration after a legal action."""
        move, k, label = action
        j = state.b
        if move == "BREAK":
            root = (ROOT,) * self.explicit_root
            return replace(state, lambda1=root, lambda2=(), starts=put(state.starts, j, True))
        if move == "SHIFT":
            return replace(state, lambda1=(*state.lambda1, *state.lambda2, j), lambda2=(), b=j + 1)
        i = state.lambda1[-k]
        moved = replace(
            state,
            lambda1=state.lambda1[:-k],
            lambda2=(*state.lambda1[-k:], *state.lambda2),
        )
        if move == "NO-ARC":
            return moved
        head, word = (j, i) if move == "LEFT-ARC" else (i, j)
        heads, labels = moved.heads, moved.labels
        if moved.leads_to(word, head):  # only non-monotonic: the cycle loses its arc into head
            heads, labels = put(heads, head, None), put(labels, head, None)
        return replace(moved, heads=put(heads, word, head), labels=put(labels, word, label))

    def static(self, state: State, gold: Tree) -> Action:
        """The canonical oracle: what it does where gold can still be derived."""
        j = state.b
        if self.is_break(gold, self.actions(state), j):
            return Action("BREAK")
        for k, i in enumerate(reversed(state.lambda1), start=1):
            for move, head, word in (("LEFT-ARC", j, i), ("RIGHT-ARC", i, j)):
                if gold_head(gold, word) == head and state.heads[word] is None:
                    if k > 1 and not self.non_local:
                        return Action("NO-ARC")
                    return Action(move, k, self.gold_label(gold, word))
        return Action("SHIFT")

    def tree(self, state: State) -> tuple[list[int], list[Label]]:
        """Heads (own number: ROOT) and labels, every word attached."""
        heads: list[int] = []
        labels = list(state.labels)
        sentence = state.sentence
        for word, head in enumerate(state.heads):
            if head is None:
                top = [w for w, h in enumerate(state.heads) if h == ROOT]
                top += [w for w, h in enumerate(state.heads) if h is None and w <= word]
                top = [w for w in top if sentence[w] == sentence[word]]
                heads.append(top[0] if self.single_root else word)
                if heads[word] == word:
                    labels[word] = next(iter(roots_of(self.root_label)), None)
            else:
                heads.append(word if head == ROOT else head)
        return heads, labels
