"""The scorers with greedy search and completion, in NumPy and float64."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy

from spacy_nmparse import systems
from spacy_nmparse.scorers.features import Features
from spacy_nmparse.scorers.shared import recurrent_layers
from spacy_nmparse.systems import ROOT
from tests.layers.test_sru import naive_sru
from tests.naive.trees import roots_of

NEAR = 64  # how far away the heads are that the biaffine part normalizes over
FAR = 100  # how far away completion looks for heads
# The sizes of tables are the features' own business.
DISTANCES, COUNTS = Features(["D", "I1-B0.distance", "items.headless"]).fact_sizes(1)

Arc = tuple[int, int]  # head or ROOT, dependent


@dataclass
class View:
    """A configuration. heads: ROOT for children of ROOT. items: lambda1, ROOT may be the first; or
    the stack. b: the next unread word. end: of the sentence, as far as starts are decided."""

    n: int
    start: int
    end: int
    b: int
    buffer: list[int]
    items: list[int]
    heads: list[int | None]
    labels: list[str | None]
    root_first: bool

    @classmethod
    def of(cls, system: Any, state: Any) -> View:
        n = state.n_words
        heads = [ROOT if head == word else head for word, head in enumerate(state.heads)]
        b = n - len(state.buffer)
        if system.name == "arc_swift":
            unread = (w for w in range(n) if heads[w] is None and w not in state.stack)
            b = next(unread, n)
            starts = [w for w in range(b) if state.sent_starts[w]]
            start = b if state.buffer[:1] == [b] and state.sent_starts[b] else starts[-1]
        elif "covington" in system.name:
            words = [item for item in state.lambda1 + state.lambda2 if item != ROOT]
            start = words[0] if words else b
        else:
            words = [item for item in state.stack + state.buffer if item != ROOT]
            start = max(w for w in range(min(words, default=n - 1) + 1) if state.sent_starts[w])
        return cls(
            n=n,
            start=start,
            end=next((w for w in range(start + 1, n) if state.sent_starts[w]), n),
            b=b,
            buffer=state.buffer,
            items=state.stack + state.lambda1,
            heads=heads,
            labels=state.labels,
            root_first=system.options.get("explicit_root", False),
        )

    def at(self, j: int) -> View:
        """With j in focus, all items before it in lambda1. The arcs are shared."""
        items = [ROOT] * self.root_first + list(range(self.start, j))
        return replace(self, b=j, buffer=list(range(j, self.n)), items=items)

    @property
    def focus(self) -> int:
        """The word that all arcs join to others."""
        if self.buffer[0] != ROOT:
            return self.buffer[0]
        return max(word for word in self.items if self.heads[word] is None)

    @property
    def headless(self) -> list[int]:
        return [word for word in range(self.start, self.b) if self.heads[word] is None]

    def kids(self, word: int) -> tuple[list[int], list[int]]:
        """Dependents on the left and on the right, outermost first. ROOT has all on its left, and
        only those of the sentence."""
        found = [w for w, head in enumerate(self.heads) if head == word]
        if word == ROOT:
            return [w for w in found if w >= self.start], []
        return [w for w in found if w < word], [w for w in found if w > word][::-1]

    def is_above(self, word: int, below: int | None) -> bool:
        while below is not None and below != ROOT:
            if below == word:
                return True
            below = self.heads[below]
        return False

    def word(self, path: str, arc: Arc | None) -> int | None:
        base, *hops = path.split(".")
        word: int | None
        if base in ("H", "D"):
            word = None if arc is None else arc[base == "D"]
        else:
            place = int(base[1:])
            if base[0] in "IS":  # S0 is the last, and so is I1
                place += base[0] == "S"
                word = self.items[-place] if place <= len(self.items) else None
            else:
                assert base[0] == "B"
                word = self.buffer[place] if place < len(self.buffer) else None
        for hop in hops:
            if word is None:
                return None
            if hop == "h":
                word = None if word == ROOT else self.heads[word]
                continue
            side = self.kids(word)[hop[0] == "r"]
            word = side[int(hop[1]) - 1] if int(hop[1]) <= len(side) else None
        return word

    def between(self, crossed: bool, arc: Arc | None) -> list[bool]:
        """For each word between the ends of an arc, whether the arc crosses one of its own or that
        from ROOT; or else whether it is headless."""
        if arc is None or ROOT in arc:
            return []
        inside = range(min(arc), max(arc) + 1)
        arcs = [(head, w) for w, head in enumerate(self.heads) if head is not None]
        return [
            any(w in ends and not set(ends) <= set(inside) for ends in arcs)
            if crossed
            else self.heads[w] is None
            for w in inside[1:-1]
        ]

    def fact(self, name: str, arc: Arc | None, labels: Sequence[str]) -> tuple[int, int]:
        """(value, number of values)."""
        if name == "items.headless":
            return min(len(self.headless), COUNTS - 1), COUNTS
        if name == "stack.depth":
            return min(len(self.items), COUNTS - 1), COUNTS
        if name == "S0-B0.distance":  # as the last item, ROOT is at the end
            top, front = (self.word(end, None) for end in ("S0", "B0"))
            return distance(top, self.end if front == ROOT else front), DISTANCES
        if name == "root.child":
            return int(bool(self.kids(ROOT)[0])), 2
        if name == "I1-B0.distance":
            return distance(self.word("I1", None), self.word("B0", None)), DISTANCES
        if name == "H-D.distance":
            if arc is None or ROOT in arc:
                return 0, 2 * DISTANCES
            return distance(*arc) + DISTANCES * (arc[1] > arc[0]), 2 * DISTANCES
        if name in ("H-D.crossed", "H-D.headless"):
            return min(sum(self.between(name == "H-D.crossed", arc)), COUNTS - 1), COUNTS
        path, kind = name.rsplit(".", 1)
        word = self.word(path, arc)
        if kind == "label":
            if word is None or word == ROOT or self.heads[word] is None:
                return 0, len(labels) + 1
            label = self.labels[word]
            return 1 + labels.index(label) if label in labels else 0, len(labels) + 1
        if word is None:
            return 0, COUNTS
        return min(len(self.kids(word)[kind == "n_right"]) + 1, COUNTS - 1), COUNTS


def distance(a: int | None, b: int | None) -> int:
    if a is None or b is None or ROOT in (a, b):
        return 0
    return 1 + sum(abs(b - a) > bound for bound in (1, 2, 3, 4, 5, 6, 8, 12, 20, 40))


def weights_of(model: Any) -> dict[str, numpy.ndarray]:
    names = [name for name in model.param_names if model.has_param(name)]
    return {name: model.get_param(name).astype("float64") for name in names}


class NaiveLayer:
    """A hidden layer: names of words and facts, and the parameters that begin with its name."""

    def __init__(self, name: str, names: Sequence[str], p: dict[str, Any], pieces: int) -> None:
        kinds = ("label", "n_left", "n_right", "distance", "headless", "crossed", "child", "depth")
        singles = [name for name in names if not name.endswith(kinds) and "*" not in name]
        pairs = [name.split("*") for name in names if "*" in name]
        self.n_singles = len(singles)
        self.words = singles + [word for pair in pairs for word in pair]
        self.facts = [name for name in names if name.endswith(kinds)]
        self.pads, self.values, self.bias = (
            p[f"{name}{part}"] for part in ("pad_rows", "fact_rows", "bias")
        )
        self.pieces = pieces

    def hidden(
        self, view: View, arc: Arc | None, rows: numpy.ndarray, labels: Sequence[str], extra: Any
    ) -> numpy.ndarray:
        """rows: (words, slots, size)."""
        found = []
        for slot, name in enumerate(self.words):
            word = view.word(name, arc)
            if word is None or word == ROOT:
                found.append(self.pads[slot, int(word is not None)])
            else:
                found.append(rows[word, slot])
        pre = self.bias + extra + sum(found[: self.n_singles])
        for a, b in zip(found[self.n_singles :: 2], found[self.n_singles + 1 :: 2], strict=True):
            pre = pre + a * b
        offset = 0
        for name in self.facts:
            value, size = view.fact(name, arc, labels)
            assert 0 <= value < size
            pre = pre + self.values[offset + value]
            offset += size
        assert offset == len(self.values)
        pieces = pre.reshape(self.pieces, -1)
        return numpy.maximum(pieces[0], 0) if self.pieces == 1 else pieces.max(axis=0)


def share_of_best(scores: Sequence[float]) -> float:
    """The largest probability by softmax."""
    return float(1 / numpy.exp(numpy.asarray(scores) - max(scores)).sum())


class Choice(NamedTuple):
    """A move: its score, the labels that it can give, and what scores all labels."""

    score: float
    labels: list[Any]
    label_scores: Callable[[], numpy.ndarray]


class Chooser:
    """What chooses among scores. gap: by how little a decision was the best."""

    labels: Sequence[str]
    gap: float = numpy.inf

    def best(self, scores: Sequence[float]) -> int:
        ranked = sorted(scores, reverse=True)
        if len(ranked) > 1:
            self.gap = min(self.gap, ranked[0] - ranked[1])
        return int(numpy.argmax(scores))

    def best_of(self, label_scores: numpy.ndarray) -> str:
        self.best(label_scores[numpy.isfinite(label_scores)])
        return self.labels[int(label_scores.argmax())]

    def choose(self: Any, state: Any) -> systems.Action:
        choices = self.choices(state)
        key = list(choices)[self.best([choice.score for choice in choices.values()])]
        labels = choices[key].labels
        label = labels[0] if len(labels) == 1 else self.best_of(choices[key].label_scores())
        return systems.Action(*key, label)


class NaiveArcParser(Chooser):
    """The scorer's formulas in float64; ``read`` a sequence first."""

    def __init__(self, model: Any, system: Any) -> None:
        self.system = system
        self.labels = system.label_names
        self.p = weights_of(model)
        self.recurrent = [weights_of(layer) for layer in recurrent_layers(model)]
        pieces = model.get_dim("nP")
        names = model.attrs["features"]
        self.layers = {name: NaiveLayer(f"{name}_", names[name], self.p, pieces) for name in names}
        assert list(self.layers) == ["context", "pair", "label"]
        self.n_moves = len(system.moves)
        self.n_pairs = model.attrs["n_pairs"]
        self.pairs = [0, 0]  # looked at, not looked at
        self.completed = {"roots": 0, "heads": 0, "again": 0, "nowhere": 0}
        self.shares: dict[int, float] = {}  # by word: of the head that completes the tree

    def read(self, vectors: numpy.ndarray, starts: Sequence[int] | None = None) -> None:
        """Word vectors of a sequence, and its constraints."""
        p, n = self.p, len(vectors)
        bounds = [0, *(w for w in range(1, n) if starts is not None and starts[w] == 1), n]
        lengths = numpy.diff(bounds).tolist()
        words = vectors.astype("float64")
        for layer in self.recurrent:
            words = naive_sru(words, lengths, layer)
        projected = words @ p["project_W"].T + p["project_b"]
        rows = projected @ p["word_W"].T
        self.rows, first = {}, 0
        for name, layer in self.layers.items():
            size = len(p[f"{name}_bias"])
            last = first + len(layer.words) * size
            self.rows[name] = rows[:, first:last].reshape(n, -1, size)
            first = last
        assert first == rows.shape[1]
        items = words @ p["arc_W"].T + p["arc_b"]
        items = numpy.where(items > 0, items, 0.1 * items).reshape(n, 2, -1)
        as_dependent, as_head = items[:, 0], items[:, 1]
        left, right = p["arc_U"]
        # biaffine[d, h]; the last h is ROOT.
        self.biaffine = numpy.empty((n, n + 1))
        from_right = as_dependent @ left @ as_head.T
        from_left = as_dependent @ right.T @ as_head.T
        later = numpy.arange(n)[:, None] < numpy.arange(n)
        self.biaffine[:, :n] = numpy.where(later, from_right, from_left)
        self.biaffine[:, n] = as_dependent @ right.T @ p["root"]
        self.near = numpy.zeros((n, n + 1), dtype=bool)
        for first, last in itertools.pairwise(bounds):
            for d in range(first, last):
                self.near[d, max(first, d - NEAR) : min(last, d + NEAR + 1)] = True
        self.near[numpy.arange(n), numpy.arange(n)] = False
        self.near[:, n] = True
        masked = numpy.where(self.near, self.biaffine, -numpy.inf)
        top = masked.max(axis=1, keepdims=True)
        total = top + numpy.log(numpy.exp(masked - top).sum(axis=1, keepdims=True))
        self.log_p = self.biaffine - total

    def log_head(self, arc: Arc) -> float:
        """log P(head | dependent)."""
        head, dependent = arc
        return float(self.log_p[dependent, head])  # ROOT is -1: the last one

    def scores(self, view: View, options: Sequence[tuple[str, Arc | None]]) -> list[float]:
        """Of moves with the arcs that they make."""
        p = self.p
        context = self.layers["context"].hidden(view, None, self.rows["context"], self.labels, 0)
        outputs = p["output_W"] @ context + p["output_b"]
        size = len(p["pair_bias"])
        extra = outputs[self.n_moves : self.n_moves + size]
        self.label_extra = outputs[self.n_moves + size :]
        assert len(self.label_extra) == len(p["label_bias"])
        found = []
        hidden: dict[int, numpy.ndarray] = {}
        logs = sorted((self.log_head(arc) for _, arc in options if arc), reverse=True)
        least = logs[self.n_pairs - 1] if 0 < self.n_pairs < len(logs) else -numpy.inf
        for move, arc in options:
            if arc is None:
                found.append(float(outputs[self.system.moves.index(move)]))
                continue
            right = int(arc[1] == view.focus)
            item = arc[0] if right else arc[1]
            if item not in hidden:
                hidden[item] = self.layers["pair"].hidden(
                    view, (item, view.focus), self.rows["pair"], self.labels, extra
                )
            log_p = self.log_head(arc)
            score = p["alpha"][right] * log_p
            self.pairs[log_p < least] += 1
            if log_p >= least:
                score += p["pair_W"][right] @ hidden[item]
            found.append(float(score))
        return found

    def label_scores(self, view: View, arc: Arc) -> numpy.ndarray:
        """In the configuration scored last."""
        hidden = self.layers["label"].hidden(
            view, arc, self.rows["label"], self.labels, self.label_extra
        )
        scores = self.p["label_W"] @ hidden + self.p["label_b"]
        for number, label in enumerate(self.labels):
            if not self.fits(label, arc):
                scores[number] = -numpy.inf
        return scores

    def fits(self, label: str, arc: Arc) -> bool:
        """Whether an arc may have a label."""
        roots = roots_of(self.system.options["root_label"])
        return not roots or (label in roots) == (arc[0] == ROOT)

    def choices(self, state: Any) -> dict[tuple[str, int], Choice]:
        """By move and how many items it passes by."""
        view = View.of(self.system, state)
        arcs = moves_of(self.system, view, state)
        scores = self.scores(view, [(move, arc) for (move, _), (arc, _) in arcs.items()])
        return {
            key: Choice(score, labels, partial(self.label_scores, view, arc))
            for (key, (arc, labels)), score in zip(arcs.items(), scores, strict=True)
        }

    def noted(self, state: Any) -> None:
        """The label that a push notes: no such system has any."""

    def liking(self, view: View, arc: Arc) -> float:
        """How far an arc's score is above that of SHIFT, seen from its later end."""
        view = view.at(max(arc))
        move = "RIGHT-ARC" if arc[1] == view.b else "LEFT-ARC"
        shift, arc_score = self.scores(view, [("SHIFT", None), (move, arc)])
        return arc_score - shift

    def complete(self, view: View) -> None:
        """Heads for all headless words of the sentence before view.b."""
        end = view.b
        sentence = range(view.start, end)
        if not view.headless:
            return
        if not view.kids(ROOT)[0]:
            likings = [self.liking(view, (ROOT, w)) for w in view.headless]
            root = view.headless[self.best(likings)]
            self.shares[root] = share_of_best(likings)
            self.attach(view, (ROOT, root))
            self.completed["roots"] += 1
        (root,) = view.kids(ROOT)[0]
        found = {w: self.find_head(view, w, sentence, root) for w in view.headless}
        while view.headless:
            likings = [found[w][0] for w in view.headless]
            w = view.headless[self.best(likings)]
            if view.is_above(w, found[w][1]):
                found[w] = self.find_head(view, w, sentence, root)
                self.completed["again"] += 1
                continue
            self.attach(view, (found[w][1], w))
            self.completed["heads"] += 1

    def find_head(self, view: View, w: int, sentence: range, root: int) -> tuple[float, int]:
        heads = [h for h in sentence if h != w and abs(h - w) <= FAR and not view.is_above(w, h)]
        if not heads:
            self.completed["nowhere"] += 1
            return -numpy.inf, root
        likings = [self.liking(view, (h, w)) for h in heads]
        best = self.best(likings)
        self.shares[w] = share_of_best(likings)
        return likings[best], heads[best]

    def attach(self, view: View, arc: Arc) -> None:
        label = self.only_label(arc)
        unlabelled = arc[0] == ROOT and not view.root_first
        if label is None and not unlabelled:
            self.liking(view, arc)
            label = self.best_of(self.label_scores(view.at(max(arc)), arc))
        view.heads[arc[1]] = arc[0]
        view.labels[arc[1]] = label

    def only_label(self, arc: Arc) -> str | None:
        fitting = [label for label in self.labels if self.fits(label, arc)]
        return fitting[0] if len(fitting) == 1 else None

    def parse(self, vectors: numpy.ndarray, starts: list[int]) -> tuple[list, list, list]:
        """Heads (a root its own), labels, whether sentences start."""
        self.read(vectors, starts)
        state = self.system.initial(len(vectors), sent_starts=starts)
        heads: list[int | None] = [None] * len(vectors)
        labels: list[str | None] = [None] * len(vectors)
        while True:
            view = View.of(self.system, state)
            move = "BREAK"
            if not state.is_final:
                move, k, label = self.choose(state)
            if self.system.name == "arc_swift":
                heads, labels = view.heads, view.labels
                if not state.is_final and view.buffer == [ROOT]:
                    self.completed["roots"] += move == "LEFT-ARC"
                    self.completed["heads"] += move == "RIGHT-ARC"
            elif move == "BREAK":
                self.complete(view)
                heads[view.start : view.b] = view.heads[view.start : view.b]
                labels[view.start : view.b] = view.labels[view.start : view.b]
            if state.is_final:
                assert None not in heads
                own = [w if head == ROOT else head for w, head in enumerate(heads)]
                return own, labels, state.sent_starts
            self.system.apply(state, systems.Action(move, k, label))


Moves = dict[tuple[str, int], tuple[Arc | None, list[Any]]]


def moves_of(system: Any, view: View, state: Any) -> Moves:
    """(move, k) -> (the arc that it makes, labels that the arc can have), in order."""
    found: Moves = {}
    for action in system.actions(state):
        arc = None
        if action.move in ("LEFT-ARC", "RIGHT-ARC"):
            if view.buffer[0] != ROOT:
                item = view.items[-action.k]
                arc = (view.focus, item) if action.move == "LEFT-ARC" else (item, view.focus)
            elif action.move == "LEFT-ARC":
                arc = (ROOT, view.focus)
            else:
                arc = (view.items[view.items.index(view.focus) - action.k], view.focus)
        found.setdefault((action.move, action.k), (arc, []))[1].append(action.label)
    return found


class NaiveStateParser(Chooser):
    """The state scorer; ``read`` a sequence first."""

    def __init__(self, parser: Any) -> None:
        self.model, self.system = parser.model, parser.system
        self.p = weights_of(self.model)
        names = self.model.attrs["features"]
        self.layer = NaiveLayer("", names, self.p, self.model.get_dim("nP"))
        self.labels = self.system.labels
        labelled = ["LEFT-ARC", "RIGHT-ARC"]
        if self.system.options.get("labelled_reduce"):
            labelled.append("REDUCE")
        in_order = [move for move in self.system.moves if move in labelled]
        self.block = {move: i for i, move in enumerate(in_order)}

    def read(self, vectors: numpy.ndarray, starts: Sequence[int] | None = None) -> None:
        projected = vectors @ self.p["project_W"].T + self.p["project_b"]
        rows = projected @ self.p["word_W"].T
        self.rows = rows.reshape(len(vectors), len(self.layer.words), -1)

    def hidden(self, state: Any) -> numpy.ndarray:
        return self.layer.hidden(View.of(self.system, state), None, self.rows, self.labels, 0)

    def label_scores(self, hidden: numpy.ndarray, move: str) -> numpy.ndarray:
        block = self.block[move]
        scores = self.p["label_W"][block] @ hidden + self.p["label_b"][block]
        scores[self.labels.index("ROOT")] = -numpy.inf
        return scores

    def noted(self, state: Any) -> str | None:
        """The label that a push notes for REDUCE."""
        if not state.stack:
            return None
        return self.best_of(self.label_scores(self.hidden(state), "RIGHT-ARC"))

    def choices(self, state: Any) -> dict[tuple[str, int], Choice]:
        """By move, all of which pass by nothing."""
        hidden = self.hidden(state)
        scores = self.p["move_W"] @ hidden + self.p["move_b"]
        labels: dict[str, list[Any]] = {}
        for action in self.system.actions(state):
            labels.setdefault(action.move, []).append(action.label)
        return {
            (move, 1): Choice(score, labels[move], partial(self.label_scores, hidden, move))
            for move, score in zip(self.system.moves, scores, strict=True)
            if move in labels
        }

    def parse(self, vectors: numpy.ndarray, starts: list[int]) -> tuple[list, list, list]:
        self.read(vectors)
        state = self.system.initial(len(vectors), sent_starts=starts)
        while not state.is_final:
            action = self.choose(state)
            noted = self.noted(state) if action.label is None else action.label
            self.system.apply(state, action, push_label=noted)
        heads, labels = state.tree()
        return heads, labels, state.sent_starts
