"""The scorer and the greedy search against a naive parser in NumPy."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest
from spacy.tokens import Doc

from spacy_nmparse import systems
from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.pipe.labels import LabelSet, Learned
from spacy_nmparse.pipe.tags import TagSet
from spacy_nmparse.scorers.features import Features
from spacy_nmparse.scorers.operations import resize_labels
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.scorers.state_scorer import DEFAULT_FEATURES
from tests.pipe.common import (
    make_examples,
    make_nlp,
    model_config,
    random_doc,
    randomize,
)

NONE = None
ALL_HOPS = (
    *("S0", "S3", "B0", "B3", "S0.h", "S0.h.h", "S1.h", "S0.l1", "S0.l2", "S0.r1", "S0.r2"),
    *("B0.l1", "B0.l2", "S0.l1.l1", "S0.r1.r1", "S1.r1.l1"),
    *("S0.label", "S0.r1.label", "B0.l1.label", "S1.n_left", "B0.n_left", "S0.n_right"),
    *("S2.n_right", "S0-B0.distance", "stack.depth"),
)


def naive_kids(state: Any, word: int) -> tuple[list[int], list[int]]:
    """Left and right dependents, in text order. ROOT's are on its left, and of the sentence."""
    kids = state.dependents(word)
    if word != systems.ROOT:
        return [kid for kid in kids if kid < word], [kid for kid in kids if kid > word]
    open_words = [w for w in state.stack + state.buffer if w != systems.ROOT]
    starts = [w for w in range(min(open_words, default=-1) + 1) if state.sent_starts[w]]
    return [kid for kid in kids if starts and kid >= starts[-1]], []


def naive_word(state: Any, path: str) -> int | None:
    """The word that a feature names; systems.ROOT; None."""
    base, *hops = path.split(".")
    items = state.stack[::-1] if base[0] == "S" else state.buffer
    place = int(base[1:])
    word = items[place] if place < len(items) else None
    for hop in hops:
        if word is None:
            return None
        if hop == "h":
            head = None if word == systems.ROOT else state.heads[word]
            word = systems.ROOT if head == word and head is not None else head
            continue
        left, right = naive_kids(state, word)
        side = left if hop[0] == "l" else right[::-1]
        number = int(hop[1]) - 1
        word = side[number] if number < len(side) else None
    return word


def naive_fact(state: Any, name: str, labels: tuple[str, ...]) -> tuple[int, int]:
    """(value, number of values)."""
    if name == "stack.depth":
        return min(len(state.stack), COUNTS - 1), COUNTS
    if name == "S0-B0.distance":
        s0, b0 = naive_word(state, "S0"), naive_word(state, "B0")
        if s0 is None or b0 is None:
            return 0, DISTANCES
        n = state.n_words
        distance = abs((n if b0 == systems.ROOT else b0) - (n if s0 == systems.ROOT else s0))
        bounds = [1, 2, 3, 4, 5, 6, 8, 12, 20, 40]
        return 1 + sum(distance > bound for bound in bounds), DISTANCES
    path, fact = name.rsplit(".", 1)
    word = naive_word(state, path)
    if fact == "label":
        if word in (None, systems.ROOT) or state.labels[word] is None:
            return 0, len(labels) + 1
        return 1 + labels.index(state.labels[word]), len(labels) + 1
    if word is None:
        return 0, COUNTS
    count = len(naive_kids(state, word)[fact == "n_right"])
    return min(count + 1, COUNTS - 1), COUNTS


# The sizes of tables are the features' own business.
DISTANCES, _, COUNTS = Features(["S0", "S0-B0.distance", "S0.label", "stack.depth"]).fact_sizes(9)


class NaiveParser:
    def __init__(self, parser: Any) -> None:
        self.model = parser.model
        self.system = parser.system
        names = self.model.attrs["features"]
        facts = ("label", "n_left", "n_right", "distance", "depth")
        singles = [name for name in names if not name.endswith(facts) and "*" not in name]
        self.pairs = [tuple(name.split("*")) for name in names if "*" in name]
        self.n_singles = len(singles)
        self.words = singles + [word for pair in self.pairs for word in pair]
        self.facts = [name for name in names if name.endswith(facts)]
        self.p = {
            name: self.model.get_param(name).astype("float64") for name in self.model.param_names
        }
        self.pieces = self.model.get_dim("nP")
        self.labels = self.system.labels
        labelled = ["LEFT-ARC", "RIGHT-ARC"]
        if self.system.options.get("labelled_reduce"):
            labelled.append("REDUCE")
        in_order = [move for move in self.system.moves if move in labelled]
        self.block = {move: i for i, move in enumerate(in_order)}

    def hidden(self, state: Any, vectors: numpy.ndarray) -> numpy.ndarray:
        projected = vectors @ self.p["project_W"].T + self.p["project_b"]
        size = self.p["bias"].shape[0]
        table = self.p["word_W"].reshape(len(self.words), size, -1)
        rows = []
        for slot, name in enumerate(self.words):
            word = naive_word(state, name)
            if word is None:
                rows.append(self.p["pad_rows"][slot, 0])
            elif word == systems.ROOT:
                rows.append(self.p["pad_rows"][slot, 1])
            else:
                rows.append(table[slot] @ projected[word])
        pre = self.p["bias"] + sum(rows[: self.n_singles])
        for i in range(self.n_singles, len(rows), 2):
            pre += rows[i] * rows[i + 1]
        offset = 0
        for name in self.facts:
            value, size = naive_fact(state, name, self.labels)
            pre += self.p["fact_rows"][offset + value]
            offset += size
        assert offset == self.p["fact_rows"].shape[0]
        pieces = pre.reshape(self.pieces, -1)
        return numpy.maximum(pieces[0], 0) if self.pieces == 1 else pieces.max(axis=0)

    def best_label(self, hidden: numpy.ndarray, move: str) -> str:
        block = self.block[move]
        scores = self.p["label_W"][block] @ hidden + self.p["label_b"][block]
        scores[self.labels.index("ROOT")] = -numpy.inf
        return self.labels[int(scores.argmax())]

    def parse(self, vectors: numpy.ndarray, starts: list[int]) -> tuple[list, list, list]:
        state = self.system.initial(len(vectors), sent_starts=starts)
        moves = list(self.system.moves)
        while not state.is_final:
            actions = self.system.actions(state)
            hidden = self.hidden(state, vectors)
            scores = self.p["move_W"] @ hidden + self.p["move_b"]
            legal = sorted({moves.index(action.move) for action in actions})
            move = moves[max(legal, key=lambda m: scores[m])]
            labels = {action.label for action in actions if action.move == move}
            label = labels.pop() if len(labels) == 1 else self.best_label(hidden, move)
            noted = label
            if move == "SHIFT" and self.system.options.get("labelled_reduce") is not True:
                noted = self.best_label(hidden, "RIGHT-ARC")
            self.system.apply(state, systems.Action(move, 1, label), push_label=noted)
        heads, labels = state.tree()
        return heads, labels, state.sent_starts


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(5), marks=pytest.mark.slow)])
@pytest.mark.parametrize("pieces", [1, 2, 3])
@pytest.mark.parametrize("features", [DEFAULT_FEATURES, ALL_HOPS])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"nonmonotonic_left": False, "nonmonotonic_reduce": False},
        {"labelled_reduce": True},
    ],
)
def test_against_a_naive_parser(
    pieces: int, features: tuple[str, ...], options: dict[str, bool], seeds: range
) -> None:
    nlp = make_nlp(
        model=model_config(hidden_width=7, maxout_pieces=pieces, features=list(features)),
        system={"@misc": "spacy_nmparse.ArcEager.v1", **options},
        oracle="dynamic",
        rounded=False,
    )
    nlp.initialize(lambda: make_examples(nlp.vocab))
    parser = nlp.get_pipe("nm_parser")
    rng = random.Random(0)
    seen: set[str] = set()
    for seed in seeds:
        randomize(parser.model, seed, scale=0.3)
        naive = NaiveParser(parser)
        docs = []
        for length in (1, 4, 12, 22, 60):
            words = [t.text for t in random_doc(nlp.vocab, rng, length, space=0)]
            starts = [rng.choice([0, 0, 0, 1, -1]) for _ in words]
            docs.append(Doc(nlp.vocab, words=words, sent_starts=starts))
        found = parser.predict(docs)
        vectors = parser.model.get_ref("tok2vec").predict(docs)
        for doc, parse, doc_vectors in zip(docs, found.by_document(), vectors, strict=True):
            arrays = parse.arcs
            constraints = parsed_tokens([doc])[1].tolist()
            heads, labels, starts = naive.parse(doc_vectors.astype("float64"), constraints)
            names = [parser.system.labels[label] for label in arrays[1]]
            if any("||" in label for label in labels):
                labels = [label.split("||")[0] for label in labels]  # heads have been lowered
            else:
                assert arrays[0].tolist() == heads
            assert names == labels
            assert [True, *(bool(start) for start in arrays[2][1:])] == starts
            seen.update(names)
    assert len(seen) > (3 if len(seeds) > 2 else 1)


def test_wrong_features() -> None:
    for names, message in (
        (["S0", "X1"], "X1"),
        (["S0.q"], "q"),
        (["S"], "'S'"),
        (["S0", "S0"], "twice"),
        (["S0", "S0*B0", "S0*B0"], "twice"),
        (["S0", "S0*q"], "q"),
        (["stack.depth"], "need a word"),
        (["S0.h.h.h.h.h.h.h"], "hops"),
        ([f"S{i}" for i in range(200)], "200 words"),
    ):
        with pytest.raises(ValueError, match=message):
            Features(names)


def test_resizing_keeps_scores() -> None:
    """Every fact keeps its row when labels are added in the midst of the table."""
    nlp = make_nlp(model=model_config(features=list(ALL_HOPS)))
    nlp.initialize(lambda: make_examples(nlp.vocab))
    parser = nlp.get_pipe("nm_parser")
    randomize(parser.model, 2, scale=0.3)
    doc = random_doc(nlp.vocab, random.Random(1), 200, space=0)
    before = parser.predict([doc]).arcs
    naive = NaiveParser(parser)
    labels = [*parser.system.labels, "new1", "new2"]
    system = parser.system_spec.create(labels, root_label="ROOT", single_root=True, segment=True)
    resize_labels(parser.model, system)
    parser._learned = Learned(LabelSet(labels), TagSet({}), system)
    new_bias = parser.model.get_param("label_b")
    new_bias[:, -2:] = -1000.0
    parser.model.set_param("label_b", new_bias)
    for old, new in zip(before, parser.predict([doc]).arcs, strict=True):
        assert (old == new).all()
    assert NaiveParser(parser).p["fact_rows"].shape[0] == naive.p["fact_rows"].shape[0] + 2 * 3


def test_model_needs_a_system() -> None:
    from spacy_nmparse.scorers.state_scorer import StateScorer

    nlp = make_nlp()
    parser = nlp.get_pipe("nm_parser")
    model = StateScorer(parser.model.get_ref("tok2vec"))
    with pytest.raises(ValueError, match="set_system"):
        model.initialize(X=ScorerInput([nlp.make_doc("a")], None))
