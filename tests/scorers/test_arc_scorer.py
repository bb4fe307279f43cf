"""The arc scorer, the greedy search and the completion of trees against a naive parser in NumPy."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy
import pytest
from spacy.tokens import Doc

from spacy_nmparse import systems
from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.pipe.labels import LabelSet, Learned
from spacy_nmparse.pipe.tags import TagSet
from spacy_nmparse.scorers.arc_scorer import FEATURES, ArcScorer
from spacy_nmparse.scorers.features import Features
from spacy_nmparse.scorers.operations import resize_labels, set_system
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.scorers.words import recurrent_layers
from spacy_nmparse.search import greedy
from spacy_nmparse.systems import ROOT
from tests.layers.test_sru import naive_sru
from tests.pipe.common import (
    ARC_FEATURES,
    NL,
    arc_model_config,
    make_examples,
    make_nlp,
    model_config,
    parser_of,
    random_doc,
    randomize,
)

NEAR = 64  # how far away the heads are that the biaffine part normalizes over
FAR = 100  # how far away completion looks for heads
DISTANCES, COUNTS = Features(["D", "I1-B0.distance", "items.headless"]).fact_sizes(1)

Arc = tuple[int, int]  # head or ROOT, dependent


@dataclass
class View:
    """A configuration. heads: ROOT for children of ROOT. items: lambda1, ROOT may be the first; or
    the stack. b: the next unread word."""

    n: int
    start: int
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
        if system.name == "arc_swift":
            unread = (w for w in range(n) if heads[w] is None and w not in state.stack)
            b = next(unread, n)
            starts = [w for w in range(b) if state.sent_starts[w]]
            start = b if state.buffer[:1] == [b] and state.sent_starts[b] else starts[-1]
        else:
            b = n - len(state.buffer)
            words = [item for item in state.lambda1 + state.lambda2 if item != ROOT]
            start = words[0] if words else b
        return cls(
            n=n,
            start=start,
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
            if base[0] == "I":
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


class NaiveLayer:
    """A hidden layer: names of words and facts, and its part of the parameters."""

    def __init__(self, name: str, names: Sequence[str], p: dict[str, Any], pieces: int) -> None:
        kinds = ("label", "n_left", "n_right", "distance", "headless", "crossed", "child")
        singles = [name for name in names if not name.endswith(kinds) and "*" not in name]
        pairs = [name.split("*") for name in names if "*" in name]
        self.n_singles = len(singles)
        self.words = singles + [word for pair in pairs for word in pair]
        self.facts = [name for name in names if name.endswith(kinds)]
        self.pads, self.values, self.bias = (
            p[f"{name}_{part}"] for part in ("pad_rows", "fact_rows", "bias")
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


class NaiveArcParser:
    """The scorer's formulas in float64; ``read`` a sequence first."""

    def __init__(self, model: Any, system: Any) -> None:
        self.system = system
        self.labels = system.label_names
        self.p = {
            name: model.get_param(name).astype("float64")
            for name in model.param_names
            if model.has_param(name)
        }
        self.recurrent = [
            {name: layer.get_param(name).astype("float64") for name in "Wvb"}
            for layer in recurrent_layers(model)
        ]
        pieces = model.get_dim("nP")
        names = model.attrs["features"]
        self.layers = {name: NaiveLayer(name, names[name], self.p, pieces) for name in names}
        assert list(self.layers) == ["context", "pair", "label"]
        self.n_moves = len(system.moves)
        self.n_pairs = model.attrs["n_pairs"]
        self.pairs = [0, 0]  # looked at, not looked at
        self.gap = numpy.inf  # by how little a decision was the best
        self.completed = {"roots": 0, "heads": 0, "again": 0, "nowhere": 0}

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
        root_label = self.system.options["root_label"]
        if root_label is not None:
            scores[self.labels.index(root_label)] = -numpy.inf
        return scores

    def best(self, scores: Sequence[float]) -> int:
        ranked = sorted(scores, reverse=True)
        if len(ranked) > 1:
            self.gap = min(self.gap, ranked[0] - ranked[1])
        return int(numpy.argmax(scores))

    def best_label(self, view: View, arc: Arc) -> str:
        scores = self.label_scores(view, arc)
        finite = scores[numpy.isfinite(scores)]
        self.best(finite)
        return self.labels[int(scores.argmax())]

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
        return likings[best], heads[best]

    def attach(self, view: View, arc: Arc) -> None:
        label = self.only_label(arc)
        unlabelled = arc[0] == ROOT and not view.root_first
        if label is None and not unlabelled:
            self.liking(view, arc)
            label = self.best_label(view.at(max(arc)), arc)
        view.heads[arc[1]] = arc[0]
        view.labels[arc[1]] = label

    def only_label(self, arc: Arc) -> str | None:
        root_label = self.system.options["root_label"]
        fitting = [
            label
            for label in self.labels
            if root_label is None or (label == root_label) == (arc[0] == ROOT)
        ]
        return fitting[0] if len(fitting) == 1 else None

    def parse(self, vectors: numpy.ndarray, starts: list[int]) -> tuple[list, list, list]:
        """Heads (a root its own), labels, whether sentences start."""
        self.read(vectors, starts)
        state = self.system.initial(len(vectors), sent_starts=starts)
        heads: list[int | None] = [None] * len(vectors)
        labels: list[str | None] = [None] * len(vectors)
        while True:
            view = View.of(self.system, state)
            arcs = moves_of(self.system, view, state)
            if state.is_final:
                move = "BREAK"
            else:
                keys = list(arcs)
                top = 0
                scored = len(keys) > 1 or len(arcs[keys[0]][1]) > 1
                if scored:
                    scores = self.scores(view, [(key[0], arcs[key][0]) for key in keys])
                    top = self.best(scores)
                move, k = keys[top]
                arc, fitting = arcs[keys[top]]
                label = fitting[0]
                if len(fitting) > 1:
                    assert arc is not None
                    label = self.best_label(view, arc)
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


# Systems and models that differ in all that there is to differ in.
NL_SYSTEM, LOCAL = "spacy_nmparse.NLCovington.v1", "spacy_nmparse.Covington.v1"
SWIFT = "spacy_nmparse.ArcSwift.v1"
SETUPS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({"@misc": NL_SYSTEM}, {}),
    "implicit": (
        {"@misc": NL_SYSTEM, "explicit_root": False},
        {"recurrent_width": 0, "maxout_pieces": 1, "hidden_width": 16},
    ),
    "nonmonotonic": (
        {"@misc": NL_SYSTEM, "nonmonotonic": True},
        {"maxout_pieces": 3, "hidden_width": 7, "context_width": 9, "arc_width": 32},
    ),
    "nonmonotonic implicit": (
        {"@misc": NL_SYSTEM, "nonmonotonic": True, "explicit_root": False},
        {"recurrent_width": 0, "hidden_width": 33, "context_width": 1, "projection_width": 1},
    ),
    "short arcs": (
        {"@misc": NL_SYSTEM, "max_length": 3},
        {"hidden_width": 1, "recurrent_width": 1},
    ),
    "local": ({"@misc": LOCAL}, {"hidden_width": 40, "arc_width": 13, "recurrent_depth": 2}),
    "local implicit": (
        {"@misc": LOCAL, "explicit_root": False, "nonmonotonic": True, "max_length": 5},
        {"maxout_pieces": 4, "hidden_width": 5},
    ),
    "few features": (
        {"@misc": NL_SYSTEM},
        {
            "features": {"context": ["B0"], "pair": ["H*D", "H"], "label": ["D.r2"]},
            "recurrent_depth": 3,
        },
    ),
    "arc-swift": ({"@misc": SWIFT}, {"hidden_width": 12}),
    "default features": ({"@misc": NL_SYSTEM}, {"features": None}),
}


def make_parser(setup: str, seed: int = 0, scale: float = 0.3, **options: Any) -> Any:
    system, model = SETUPS[setup]
    model = arc_model_config(**model)
    nlp = make_nlp(factory=NL, system=system, model=model, rounded=False, **options)
    nlp.initialize(lambda: make_examples(nlp.vocab))
    parser = parser_of(nlp)
    randomize(parser.model, seed, scale)
    return parser


def constrained_doc(
    parser: Any, rng: random.Random, length: int, kinds: Sequence[int], space: float = 0.0
) -> Doc:
    words = [token.text for token in random_doc(parser.vocab, rng, length, space)]
    return Doc(parser.vocab, words=words, sent_starts=[rng.choice(kinds) for _ in words])


def compare(parser: Any, naive: NaiveArcParser, docs: list[Doc]) -> int:
    """Returns how many documents had a decision too close for floats."""
    found = parser.predict(docs)
    tok2vec = parser.model.get_ref("tok2vec").predict(docs)
    close = 0
    for doc, parse, vectors in zip(docs, found.by_document(), tok2vec, strict=True):
        arrays = parse.arcs
        if not len(parse.tokens):
            assert all(token.is_space for token in doc)
            continue
        naive.gap = numpy.inf
        constraints = parsed_tokens([doc])[1].tolist()
        heads, labels, starts = naive.parse(vectors[parse.tokens], constraints)
        if naive.gap < 1e-4:
            close += 1
            continue
        assert arrays[0].tolist() == heads
        assert [parser.system.labels[label] for label in arrays[1]] == labels
        assert [True, *(bool(start) for start in arrays[2][1:])] == starts
    return close


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(4), marks=pytest.mark.slow)])
@pytest.mark.parametrize("setup", SETUPS)
def test_against_a_naive_parser(setup: str, seeds: range) -> None:
    rng = random.Random(1)
    counts: dict[str, int] = {}
    close = 0
    pairs = numpy.zeros(2)
    for seed in seeds:
        parser = make_parser(setup, seed)
        naive = NaiveArcParser(parser.model, parser.system)
        docs = [
            constrained_doc(parser, rng, length, kinds, space)
            for length, kinds, space in [
                (1, [0], 0.0),
                (2, [-1], 0.0),
                (7, [0, 0, 1, -1], 0.3),
                (0, [0], 0.0),
                (14, [-1], 0.0),
                (25, [0, -1, -1, -1], 0.1),
                (3, [0], 1.0),
                (60, [0, 0, 1, -1], 0.0),
            ]
        ]
        if seed == 0:
            docs.append(constrained_doc(parser, rng, 30, [-1]))
        close += compare(parser, naive, docs)
        pairs += naive.pairs
        for key, count in naive.completed.items():
            counts[key] = counts.get(key, 0) + count
    assert close < len(seeds)
    assert pairs[0] > 9
    if len(seeds) > 1:
        assert pairs[0] > 20
        assert pairs[1] > 20 or setup in ("local", "local implicit", "arc-swift")  # few arcs
        assert counts["roots"] > 3 and counts["heads"] > 10
        assert counts["again"] > 0 or setup != "plain"


@pytest.mark.parametrize(
    ("length", "shift"), [(150, 0.0), pytest.param(210, 50.0, marks=pytest.mark.slow)]
)
def test_words_far_apart(length: int, shift: float) -> None:
    """Heads beyond what the biaffine part normalizes over, and beyond where completion looks."""
    features = {"context": ["B0"], "pair": ["H"], "label": ["D"]}
    model = arc_model_config(features=features, recurrent_width=0, n_pairs=0)
    nlp = make_nlp(factory=NL, model=model, rounded=False)
    nlp.initialize(lambda: make_examples(nlp.vocab))
    parser = parser_of(nlp)
    randomize(parser.model, 0, 0.5 if shift else 0.3)
    bias = parser.model.get_param("output_b")
    bias[parser.system.moves.index("SHIFT")] = shift
    parser.model.set_param("output_b", bias)
    naive = NaiveArcParser(parser.model, parser.system)
    words = [f"0-{i}" for i in range(length)]
    doc = Doc(parser.vocab, words=words, sent_starts=[-1] * length)
    assert compare(parser, naive, [doc]) == 0
    distances = abs(parser.predict([doc]).arcs.heads - numpy.arange(length))
    assert sum(distances > NEAR) > 3
    if shift:
        assert naive.completed["heads"] > length / 3
        assert naive.completed["nowhere"] > 0, "no word had only dependents near it"
        assert sum(distances == FAR) + sum(distances > FAR) > 0
        assert naive.completed["again"] > 0


def greedy_parse(parser: Any, system: Any, doc: Doc) -> tuple[list[int], list[Any]]:
    """By another system than the parser's, of as many labels."""
    set_system(parser.model, system)
    lengths = numpy.asarray([len(doc)], dtype="int32")
    scored = parser.model.predict(ScorerInput([doc], None, lengths))
    set_system(parser.model, parser.system)
    constraints = numpy.full(len(doc), -1, dtype="int8")
    heads, labels, _ = greedy.parse(system, scored, [len(doc)], constraints)
    return heads.tolist(), [system.label_names[label] if label >= 0 else None for label in labels]


@pytest.mark.parametrize("explicit_root", [True, False])
@pytest.mark.parametrize("shift", [0.0, 50.0])
def test_systems_without_a_label_for_roots(explicit_root: bool, shift: float) -> None:
    """Any label for arcs from ROOT as an item; none for roots that are chosen in the end."""
    parser = make_parser("plain")
    bias = parser.model.get_param("output_b")
    bias[parser.system.moves.index("SHIFT")] = shift
    parser.model.set_param("output_b", bias)
    system = systems.create(
        "nl_covington",
        labels=parser.system.labels,
        explicit_root=explicit_root,
        single_root=True,
        segment=True,
    )
    rng = random.Random(3)
    for length in (1, 2, 5, 12, 20):
        doc = constrained_doc(parser, rng, length, [-1])
        naive = NaiveArcParser(parser.model, system)
        vectors = parser.model.get_ref("tok2vec").predict([doc])[0]
        heads, labels, _ = naive.parse(vectors, [-1] * length)
        assert naive.gap > 1e-4
        assert greedy_parse(parser, system, doc) == (heads, labels)
        (root,) = (word for word, head in enumerate(heads) if head == word)
        assert (labels[root] is None) == (not explicit_root)


def test_unlabelled() -> None:
    """Without labels every arc has label 0, whatever is scored."""
    model = ArcScorer(
        make_nlp().get_pipe("nm_parser").model.get_ref("tok2vec"),
        **{key: value for key, value in arc_model_config().items() if key in SIZES},
    )
    system = systems.create("nl_covington", explicit_root=True, single_root=True, segment=True)
    set_system(model, system)
    nlp = make_nlp()
    doc = random_doc(nlp.vocab, random.Random(1), 12, space=0)
    model.initialize(X=ScorerInput([doc]))
    randomize(model, 4, 0.3)
    naive = NaiveArcParser(model, system)
    vectors = model.get_ref("tok2vec").predict([doc])[0]
    heads, labels, _ = naive.parse(vectors, [-1] * 12)
    scored = model.predict(ScorerInput([doc]))
    found = greedy.parse(system, scored, [12], numpy.full(12, -1, dtype="int8"))
    assert naive.gap > 1e-4
    assert found[0].tolist() == heads
    assert not found[1].any() and set(labels) == {None}


# What goes wrong

SIZES = (
    "arc_width",
    "hidden_width",
    "context_width",
    "maxout_pieces",
    "projection_width",
    "recurrent_width",
    "recurrent_depth",
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arc_width": 0}, "arc_width 0"),
        ({"hidden_width": 0}, "hidden_width 0"),
        ({"context_width": 0}, "context_width 0"),
        ({"maxout_pieces": 0}, "maxout_pieces 0"),
        ({"projection_width": 0}, "projection_width 0"),
        ({"recurrent_width": -1}, "recurrent_width -1"),
        ({"recurrent_depth": 0}, "recurrent_depth 0"),
        ({"tree_weight": -0.1}, "tree_weight -0.1"),
        ({"n_pairs": 65}, "n_pairs 65"),
        ({"n_pairs": -1}, "n_pairs -1"),
        ({"dropout_factor": -1.0}, "dropout_factor -1"),
        ({"features": {"pairs": ["H"]}}, "pairs"),
        ({"features": {"pair": ["H", "H"]}}, "twice"),
        ({"features": {"pair": ["H-D.distance"]}}, "need a word"),
        ({"features": {"label": []}}, "need a word"),
        ({"features": {"context": ["I0"]}}, "I0"),
        ({"features": {"context": ["B0", "I1-B1.distance"]}}, "I1-B1"),
        ({"features": {"context": ["B0.x"]}}, "'x'"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    tok2vec = make_nlp().get_pipe("nm_parser").model.get_ref("tok2vec")
    with pytest.raises(ValueError, match=message):
        ArcScorer(tok2vec, **options)
    with pytest.raises(ValueError, match=message):
        make_nlp(factory=NL, model=arc_model_config(**options))


def test_features_that_are_not_given_are_the_default_ones() -> None:
    tok2vec = make_nlp().get_pipe("nm_parser").model.get_ref("tok2vec")
    model = ArcScorer(tok2vec, features={"pair": ["D", "H"]})
    assert model.attrs["features"] == {
        "context": list(FEATURES["context"]),
        "pair": ["D", "H"],
        "label": list(FEATURES["label"]),
    }
    for names in FEATURES.values():
        Features(names)


def test_systems_that_a_scorer_cannot_score() -> None:
    """Each kind of scorer says so, when it is to score a system of the other kind."""
    for factory, system, model in (
        (NL, "spacy_nmparse.ArcEager.v1", arc_model_config()),
        (NL, NL_SYSTEM, model_config()),
        (NL, SWIFT, model_config()),
    ):
        with pytest.raises(ValueError, match=r"cannot be made: An? .* cannot score .* can."):
            make_nlp(factory=factory, system={"@misc": system}, oracle="static", model=model)


def test_model_needs_a_system() -> None:
    nlp = make_nlp(factory=NL)
    model = ArcScorer(parser_of(nlp).model.get_ref("tok2vec"))
    with pytest.raises(ValueError, match="set_system"):
        model.initialize(X=ScorerInput([nlp.make_doc("a")]))


WEIGHTS = (
    *("output_W", "output_b", "pair_W", "arc_U", "root", "alpha", "label_W", "label_b", "word_W"),
    *("context_pad_rows", "context_fact_rows", "context_bias", "pair_pad_rows", "pair_fact_rows"),
    *("pair_bias", "label_pad_rows", "label_fact_rows", "label_bias"),
)


def test_weights_of_other_shapes() -> None:
    parser = make_parser("plain")
    docs = [random_doc(parser.vocab, random.Random(0), 5)]
    for name in WEIGHTS:
        weights = parser.model.get_param(name)
        for axis in (0, -1):
            parser.model.set_param(name, numpy.concatenate([weights, weights], axis=axis))
            with pytest.raises(ValueError, match=r"shape|size"):
                parser.predict(docs)
        parser.model.set_param(name, weights)
    parser.predict(docs)


# Parameters


def test_resizing_keeps_scores() -> None:
    """Every fact of every layer keeps its row when labels are added in the midst of the table."""
    parser = make_parser("plain", 2)
    doc = random_doc(parser.vocab, random.Random(1), 150, space=0)
    before = parser.predict([doc]).arcs
    assert len(set(before[1])) > 4
    naive = NaiveArcParser(parser.model, parser.system)
    sizes = {name: len(naive.p[f"{name}_fact_rows"]) for name in FEATURES}
    labels = [*parser.system.labels, "new1", "new2"]
    system = parser.system_spec.create(labels, root_label="ROOT", single_root=True, segment=True)
    resize_labels(parser.model, system)
    parser._learned = Learned(LabelSet(labels), TagSet({}), system)
    bias = parser.model.get_param("label_b")
    assert not bias[-2:].any()
    bias[-2:] = -1000.0
    parser.model.set_param("label_b", bias)
    for old, new in zip(before, parser.predict([doc]).arcs, strict=True):
        assert (old == new).all()
    assert compare(parser, NaiveArcParser(parser.model, parser.system), [doc]) == 0
    for name, size in sizes.items():
        facts = ARC_FEATURES[name]
        n_label_facts = sum(fact.endswith(".label") for fact in facts)
        assert n_label_facts
        found = parser.model.get_param(f"{name}_fact_rows")
        assert len(found) == size + 2 * n_label_facts


@pytest.mark.parametrize("setup", ["plain", "implicit", "default features"])
def test_saving_and_loading(setup: str, tmp_path: Path) -> None:
    parser = make_parser(setup, 3)
    doc = random_doc(parser.vocab, random.Random(1), 40)
    expected = parser.predict([doc]).arcs
    parser.to_disk(tmp_path)
    for start in (0, 1):  # into a parser without weights, and into one with other ones
        system, model = SETUPS[setup]
        model = arc_model_config(**model)
        nlp = make_nlp(factory=NL, system=system, model=model, rounded=False)
        other = parser_of(nlp)
        if start:
            nlp.initialize(lambda nlp=nlp: make_examples(nlp.vocab))  # type: ignore[misc]
            randomize(other.model, 4, 0.3)
            found = other.predict([doc]).arcs
            assert any((a != b).any() for a, b in zip(expected, found, strict=True))
        other.from_disk(tmp_path)
        for node, loaded in zip(parser.model.walk(), other.model.walk(), strict=True):
            assert node.param_names == loaded.param_names
            for name in node.param_names:
                assert node.has_param(name) == loaded.has_param(name)
                if node.has_param(name):
                    assert (node.get_param(name) == loaded.get_param(name)).all()
        for a, b in zip(expected, other.predict([doc]).arcs, strict=True):
            assert (a == b).all()


def test_initial_weights() -> None:
    """Scores of moves, pairs and labels start at zero, the biaffine part with weight 1."""
    nlp = make_nlp(factory=NL)
    nlp.initialize(lambda: make_examples(nlp.vocab))
    model = parser_of(nlp).model
    n_moves = len(parser_of(nlp).system.moves)
    assert (model.get_param("alpha") == 1).all()
    for name in ("pair_W", "label_W", "label_b", "output_b"):
        assert not model.get_param(name).any()
    output_W = model.get_param("output_W")
    assert not output_W[:n_moves].any() and (output_W[n_moves:] != 0).all()
    for name in ("project_W", "word_W", "arc_W", "arc_U", "root"):
        weights = model.get_param(name)
        assert (weights != 0).mean() > 0.99 and weights.std() > 0.02
