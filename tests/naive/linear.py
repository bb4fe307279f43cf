"""A plain second implementation of the linear scorer: features, scores, the averaged perceptron,
the logistic regression."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from spacy_nmparse.systems import ROOT, Action
from tests.naive.scorers import View
from tests.naive.trees import roots_of

MASK = (1 << 64) - 1
FACTOR = 0x9E3779B97F4A7C15
BUCKETS = (1, 2, 3, 4, 5, 6, 8, 12, 20, 40)


def mix(hashed: int, value: int) -> int:
    hashed = ((hashed ^ value) * FACTOR) & MASK
    return hashed ^ (hashed >> 29)


def value(
    view: View, name: str, words: Sequence[int], tags: Sequence[int], labels: Sequence[str | None]
) -> int:
    path, attribute = name.rsplit(".", 1)
    if attribute == "distance":
        first, second = (view.word(one, None) for one in path.split("-"))
        if first is None or second is None or first == ROOT:
            return 0
        apart = abs(first - (view.n if second == ROOT else second))
        return apart and 1 + sum(apart > bound for bound in BUCKETS)
    word = view.word(path, None)
    if word is None:
        return 0
    if word == ROOT:
        return 1 if attribute in ("word", "tag") else 0
    if attribute == "word":
        return words[word]
    if attribute == "tag":
        return tags[word]
    numbers = [labels.index(one) if one in labels else -1 for one in view.labels]  # -1: none noted
    if attribute == "label":
        return 0 if view.heads[word] is None else numbers[word] + 2
    side = view.kids(word)["left" not in attribute]
    if attribute.startswith("n_"):
        return len(side) + 1
    return sum(1 << number for number in {numbers[kid] for kid in side} if number >= 0)


def features(
    names: Sequence[str],
    view: View,
    words: Sequence[int],
    tags: Sequence[int],
    labels: Sequence[str | None],
    bits: int,
) -> list[int]:
    """The hashed features of a configuration."""
    found = []
    for place, name in enumerate(names):
        values = [value(view, part, words, tags, labels) for part in name.split("*")]
        hashed = mix(0, place + 1)
        for one in values:
            hashed = mix(hashed, one)
        if any(values):
            found.append(((hashed * FACTOR) & MASK) >> (64 - bits))
    return found


class Perceptron:
    """An averaged perceptron with one weight for each place: the averages are sums over time."""

    def __init__(self, system: Any, names: Sequence[str], bits: int) -> None:
        self.system = system
        self.names = names
        self.bits = bits
        self.weights: dict[int, float] = defaultdict(float)
        self.sums: dict[int, float] = defaultdict(float)
        self.n_examples = 0
        labelled = [move.name for move in system.table.values() if move.labelled]
        self.blocks = {name: i for i, name in enumerate(labelled if system.labels else ())}

    def features(self, state: Any, words: Sequence[int], tags: Sequence[int]) -> list[int]:
        labels = self.system.label_names
        view = View.of(self.system, state)
        return features(self.names, view, words, tags, labels, self.bits)

    def place(self, move: str, label: str | None) -> int:
        """The class of a move and a label."""
        if move not in self.blocks or label is None:
            return self.system.moves.index(move)
        n_moves = len(self.system.moves)
        return n_moves + self.system.labels.index(label) * len(self.blocks) + self.blocks[move]

    def score(self, found: Sequence[int], action: Action) -> float:
        which = self.place(action.move, action.label)
        return sum(self.weights[feature + which] for feature in found)

    def scores(self, found: Sequence[int], actions: Sequence[Action]) -> dict[Action, float]:
        return {action: self.score(found, action) for action in actions}

    def add(self, found: Sequence[int], action: Action, amount: float) -> None:
        which = self.place(action.move, action.label)
        for feature in found:
            self.weights[feature + which] += amount

    def count(self) -> None:
        """An example is over: all weights enter the averages."""
        self.n_examples += 1
        for place, weight in self.weights.items():
            self.sums[place] += weight

    def averages(self) -> Mapping[int, float]:
        return {place: total / self.n_examples for place, total in self.sums.items()}


class Logistic(Perceptron):
    """A logistic regression with the cumulative penalty of Tsuruoka et al. (2009)."""

    def __init__(self, system: Any, names: Sequence[str], bits: int, l1: float, least: int) -> None:
        super().__init__(system, names, bits)
        self.l1 = l1
        self.least = least
        self.seen: Counter[int] = Counter()
        self.penalty = 0.0
        self.taken: dict[int, float] = defaultdict(float)

    def learn(self, found: Sequence[int], actions: Sequence[Action], allowed: set[Action]) -> None:
        """A step of gradient descent."""
        kept = []
        for feature in found:
            self.seen[feature] += 1
            kept += [feature] * (self.seen[feature] >= self.least)
        scores = self.scores(kept, actions)
        top = max(scores.values())
        shares = {action: math.exp(score - top) for action, score in scores.items()}
        right = sum(shares[action] for action in actions if action in allowed)
        rate = 0.1 / (1 + self.n_examples / 30000)
        self.n_examples += 1
        self.penalty += rate * self.l1
        for action in actions:
            gradient = shares[action] / sum(shares.values())
            if action in allowed:
                gradient -= shares[action] / right
            if abs(gradient) >= 1e-3:
                for feature in kept:
                    place = feature + self.place(action.move, action.label)
                    self.weights[place] -= rate * gradient
                    after = self.penalized(place)
                    self.taken[place] += after - self.weights[place]
                    self.weights[place] = after

    def penalized(self, place: int) -> float:
        """The weight with all penalties."""
        weight, taken = self.weights[place], self.taken[place]
        if weight > 0:
            return max(0.0, weight - (self.penalty + taken))
        return min(0.0, weight + (self.penalty - taken)) if weight < 0 else 0.0


def best(scores: Mapping[Action, float]) -> Action:
    """The best action, of equal ones the first: the move with the best label, then its label."""
    return max(scores, key=lambda action: scores[action])


def noted_label(model: Perceptron, found: Sequence[int], noted_by: str | None) -> str | None:
    """The label that a push notes: the best one of the move that it notes the label of."""
    if noted_by is None:
        return None
    roots = roots_of(model.system.options.get("root_label"))
    labels = [label for label in model.system.labels if label not in roots]
    return max(labels, key=lambda label: model.score(found, Action(noted_by, 1, label)))
