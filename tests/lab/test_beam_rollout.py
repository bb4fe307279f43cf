"""Training with a beam against the same done naively, and what it learns."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.lab.beam import rollout as beam_rollout
from spacy_nmparse.lab.probabilities import probabilities
from spacy_nmparse.learning.lesson import Lesson
from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.pipe.learning import GreedyLearning
from spacy_nmparse.systems import ROOT, Action, Gold
from tests.learning.test_gradients import Rollout, check
from tests.pipe.common import (
    DOCUMENTS,
    NL,
    SYSTEMS,
    arc_model_config,
    bare,
    gold_doc,
    learn,
    make_example,
    make_examples,
    make_nlp,
    model_config,
    parser_of,
    random_heads,
    randomize,
    train,
    tree,
)
from tests.search.test_beam import flat

pytestmark = pytest.mark.usefixtures("exact_products")

#: The system, the oracle.
PARSERS: dict[str, tuple[str, str]] = {
    "arc-eager": ("arc-eager", "dynamic"),
    "arc-eager static": ("arc-eager", "static"),
    "labelled reduce": ("labelled reduce", "dynamic"),
    "arc-standard": ("arc-standard", "dynamic"),
    "swap": ("swap", "nd_all"),
    "swap minimal": ("swap", "minimal"),
    "nl": ("nl", "dynamic"),
    "nl nonmonotonic": ("nl nonmonotonic", "static"),
    "covington": ("covington", "dynamic"),
}


def make(name: str, **options: Any) -> Language:
    config, oracle = SYSTEMS[PARSERS[name][0]], PARSERS[name][1]
    listed = config["factory"] == NL
    model = arc_model_config(tree_weight=0.0, n_pairs=0) if listed else model_config()
    training = {"update": "max_violation", "width": 4, **options}
    return make_nlp(**config, oracle=oracle, projectivize=False, model=model, **training)


def random_examples(nlp: Language, seed: int, count: int = 6) -> list[Example]:
    """Trees that cross, of one to eight words, and some of DOCUMENTS."""
    rng = random.Random(seed)
    examples = []
    for n in range(1, count + 3):
        heads = random_heads(n, rng)
        labels = ["ROOT" if h == i else rng.choice("ab") for i, h in enumerate(heads)]
        words = [rng.choice(["She", "saw", "the", "cat", "."]) for _ in heads]
        examples.append(make_example(Doc(nlp.vocab, words=words, heads=heads, deps=labels)))
    return examples + make_examples(nlp.vocab, [[0, 1], [2, 4, 3], [1, 0, 5, 2, 4, 0, 0, 3, 1]])


def random_weights(nlp: Language, examples: list[Example], seed: int) -> Any:
    nlp.initialize(lambda: examples)
    parser = parser_of(nlp)
    randomize(parser.model, seed, 0.2)
    return parser


@dataclass
class Hypothesis:
    score: float
    state: Any
    actions: tuple[tuple[Action, str | None], ...]
    right: bool
    scores: tuple[float, ...] = ()  # after each move

    def stays(self, stop: int) -> bool:
        """Whether the configuration is that of a sentence from word `stop` on."""
        front = [word for word in self.state.buffer if word != ROOT][:1]
        begun = any(self.state.sent_starts[stop:]) and front and front[0] >= stop
        return bool(self.state.is_final or begun)


class NaiveSearch:
    """Two beams over one sentence, a step at a time."""

    def __init__(
        self, parser: Any, scored: Any, offset: int, gold: Gold, width: int, oracle: str
    ) -> None:
        self.scored, self.offset, self.gold, self.oracle = scored, offset, gold, oracle
        self.parser = parser
        self.system, self.width = parser.system, width
        self.costly = 0

    def successors(self, one: Hypothesis, held: bool) -> list[Any]:
        """(score after the move, hypothesis, {label: (score, action, note, right)})."""
        found = probabilities(self.system, self.scored, self.offset, one.state)
        notes = {note for action, (_, note) in found.items() if action.move == "SHIFT"}
        note = notes.pop() if notes else None
        allowed: set[Action] = set()
        if one.right:
            allowed = self.system.oracle(one.state, self.gold, self.oracle, push_label=note)
            costs = self.system.costs(one.state, self.gold, push_label=note)
            assert allowed
            self.costly += any(costs[action] > min(costs.values()) for action in allowed)
        moves: dict[Any, dict[Any, Any]] = {}
        for action, (p, noted) in found.items():
            right = one.right and action in allowed
            if right or not held:
                labels = moves.setdefault((action.move, action.k), {})
                labels[action.label] = (one.score + p, action, noted, right)
        all_of: dict[Any, list[float]] = {}
        for action, (p, _) in found.items():
            all_of.setdefault((action.move, action.k), []).append(p)
        return [
            (one.score + float(numpy.logaddexp.reduce(all_of[move])), one, labels)
            for move, labels in moves.items()
        ]

    def step(self, live: list[Hypothesis], held: bool, stop: int) -> list[Hypothesis]:
        moves: list[Any] = []
        for one in live:
            if one.stays(stop):
                moves.append((one.score, one, None))
            else:
                moves += self.successors(one, held)
        moves = sorted(moves, key=lambda move: -move[0])[: self.width]
        choices: list[Any] = []
        for score, one, labels in moves:
            if labels is None:
                choices.append((score, one, None))
            else:
                choices += [(choice[0], one, choice) for choice in labels.values()]
        after = []
        for score, one, choice in sorted(choices, key=lambda c: -c[0])[: self.width]:
            if choice is None:
                after.append(one)
                continue
            _, action, noted, right = choice
            state = one.state.copy()
            self.system.apply(state, action, push_label=noted)
            actions = (*one.actions, (action, noted))
            after.append(Hypothesis(score, state, actions, right, (*one.scores, score)))
        return after

    def loss(self, update: str, stop: int) -> tuple[float, int]:
        """The loss, and the number of the step that it is taken from."""
        start = Hypothesis(0.0, self.system.initial(len(self.gold)), (), True)
        free, held = [start], [start]
        if update == "latent":
            return self.latent_loss(free, held, stop)
        chosen: tuple[list[Hypothesis], list[Hypothesis]] = ([], [])
        most, number, step = -numpy.inf, 0, 0
        while not (free[0].stays(stop) and held[0].stays(stop)):
            free, held = self.step(free, False, stop), self.step(held, True, stop)
            step += 1
            violation = free[0].score - held[0].score
            if update == "early_update" or violation >= most:
                most, number, chosen = violation, step, (free, held)
            if update == "early_update" and not any(one.right for one in free):
                break
        known = {one.actions: one for one in (*chosen[0], *chosen[1])}
        right = [one.score for one in known.values() if one.right]
        return self.share([one.score for one in known.values()], right), number

    def latent_loss(
        self, free: list[Hypothesis], held: list[Hypothesis], stop: int
    ) -> tuple[float, int]:
        while not held[0].stays(stop):
            held = self.step(held, True, stop)
        latent, steps = held[0], []
        while len(steps) < len(latent.actions) or not free[0].stays(stop):
            free = self.step(free, False, stop)
            number = min(len(steps) + 1, len(latent.actions))
            score = latent.scores[number - 1]
            known = {one.actions: one.score for one in free} | {latent.actions[:number]: score}
            steps.append((free[0].score - score, len(steps) + 1, score, known))
        _, number, score, known = max(steps, key=lambda step: step[:2])
        return self.share([*known.values()], [score]), number

    @staticmethod
    def share(scores: list[float], right: list[float]) -> float:
        return float(numpy.logaddexp.reduce(scores) - numpy.logaddexp.reduce(right))


def naive_loss(parser: Any, example: Example, update: str, width: int) -> tuple[float, list[int]]:
    doc = bare(example.reference)
    scored, (n,), _ = flat(parser, [doc])
    gold = parser.gold_reader.read(example, *parsed_tokens([example.predicted])[:2])
    bounds = beam_rollout.sentences(gold)
    is_partial = None in gold.heads and parser.learning.oracle not in ("monotonic", "combined")
    oracle = "dynamic" if is_partial else parser.learning.oracle
    loss, steps = 0.0, []
    for first, last in pairwise(bounds):
        rest = beam_rollout.window(gold, first, n)
        search = NaiveSearch(parser, scored, first, rest, width, oracle)
        more, step = search.loss(update, last - first)
        assert oracle not in ("dynamic", "nd_all") or not search.costly
        loss += more
        steps.append(step)
    return loss, steps


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("update", beam_rollout.UPDATES)
def test_loss(name: str, update: str) -> None:
    """Both beams, the latent gold sequences, the step that is learned from, and the loss."""
    nlp = make(name, update=update)
    examples = random_examples(nlp, 0)
    parser = random_weights(nlp, examples, 1)
    steps: list[int] = []
    for width in (1, 3):
        parser.learning.width = width
        for example in examples:
            expected, found = naive_loss(parser, example, update, width)
            loss = parser.update([example], sgd=False)[parser.name]
            assert loss == pytest.approx(expected, rel=2e-3, abs=2e-3), example.reference
            steps += found
    assert len(set(steps)) > 2


@pytest.mark.parametrize("name", PARSERS)
def test_latent_where_nothing_is_to_choose(name: str) -> None:
    """By a static oracle there is one right sequence: at each step, and of the sentence."""
    nlp = make(name, explore=0.0)
    examples = random_examples(nlp, 2)
    parser = random_weights(nlp, examples, 2)
    found = {}
    for update in ("max_violation", "latent"):
        parser.learning.update = update
        found[update] = losses(parser, examples)
    one_way = PARSERS[name][1] in ("static", "minimal")
    assert (found["max_violation"] == found["latent"]) == one_way


@pytest.mark.parametrize(
    ("name", "update", "dropout"),
    [
        ("nonmonotonic", "max_violation", 0.3),
        ("nonmonotonic", "latent", 0.3),
        ("nonmonotonic", "early_update", 0.0),
        ("nl_covington", "max_violation", 0.3),
    ],
)
def test_gradients(name: str, update: str, dropout: float) -> None:
    options = {"oracle": "dynamic", "update": update, "width": 3}
    roll = Rollout(name, 4, dropout, **options)
    roll.examples = roll.examples[:2]
    check(roll, slice(0, 1))


def test_gradients_behind_the_scorer() -> None:
    options = {"oracle": "dynamic", "update": "max_violation", "width": 3}
    check(Rollout("nonmonotonic", 2, 0.0, **options), slice(1, None))


@pytest.mark.parametrize("name", ["arc-eager", "swap", "nl"])
@pytest.mark.parametrize("update", beam_rollout.UPDATES)
def test_overfitting(name: str, update: str) -> None:
    nlp = make(name, update=update)
    documents = [trees for trees in DOCUMENTS if name != "arc-eager" or not {2, 3} & {*trees}]
    learn(nlp, make_examples(nlp.vocab, documents))
    for width in (1, 4):
        parser_of(nlp).beam_width = width
        for trees in documents:
            gold = gold_doc(nlp.vocab, trees)
            assert tree(nlp(bare(gold))) == tree(gold)


def losses(parser: Any, examples: Sequence[Example]) -> list[float]:
    return [parser.update([example], sgd=False)[parser.name] for example in examples]


@pytest.mark.parametrize("name", ["arc-eager", "nl"])
def test_long_sentences_are_learned_greedily(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = make(name, explore=0.0)
    examples = make_examples(nlp.vocab, [[0], [5, 1], [3]])
    parser = random_weights(nlp, examples, 3)
    by_beam = losses(parser, examples)
    monkeypatch.setattr(beam_rollout, "LONGEST", 4)
    mixed = losses(parser, examples)
    parser.learning = GreedyLearning("dynamic", 0.0)
    greedy = losses(parser, examples)
    assert mixed == [greedy[0], greedy[1], by_beam[2]]
    assert greedy[2] != by_beam[2]


def test_windows_of_a_long_document() -> None:
    """A sentence's loss is the same wherever in a document it stands, given its token vectors."""
    nlp = make("arc-eager", update="early_update")
    examples = make_examples(nlp.vocab, [[0] * 30])
    parser = random_weights(nlp, examples, 1)
    expected, steps = naive_loss(parser, examples[0], "early_update", 4)
    assert len(steps) == 30
    assert losses(parser, examples)[0] == pytest.approx(expected, rel=2e-3)


def test_unknown_boundaries() -> None:
    """A text whose sentences are not marked is searched through as a whole."""
    nlp = make("arc-eager")
    example = make_example(gold_doc(nlp.vocab, [0, 1, 4]))
    parser = random_weights(nlp, [example], 1)
    heads = [None if t.head.i == t.i else t.head.i for t in example.reference]
    gold = Gold(heads, None, [True, *[None] * (len(heads) - 1)])
    assert beam_rollout.sentences(gold) == [0, len(gold)]
    scored, _, constraints = flat(parser, [bare(example.reference)])
    expected, _ = NaiveSearch(parser, scored, 0, gold, 4, parser.learning.oracle).loss(
        "max_violation", len(gold)
    )
    lesson = Lesson(parser.system, scored, [gold], constraints, 0.0)
    _, loss = beam_rollout.learn(lesson, "dynamic", "max_violation", 4, 1)
    assert loss == pytest.approx(expected, rel=2e-3) and loss > 0


def learn_one(parser: Any, oracle: str, update: str, width: int) -> None:
    doc = gold_doc(parser.vocab, [0])
    scored, _, constraints = flat(parser, [bare(doc)])
    gold = Gold([token.head.i for token in doc])
    lesson = Lesson(parser.system, scored, [gold], constraints, 0.0)
    beam_rollout.learn(lesson, oracle, update, width, 1)


def test_arguments() -> None:
    nlp = make("arc-eager")
    parser = random_weights(nlp, [make_example(gold_doc(nlp.vocab, [0]))], 1)
    learn_one(parser, "dynamic", "early_update", 1)
    with pytest.raises(ValueError, match="late_update"):
        learn_one(parser, "dynamic", "late_update", 4)
    with pytest.raises(ValueError, match="width"):
        learn_one(parser, "dynamic", "early_update", 0)
    with pytest.raises(ValueError, match="nd_all"):
        learn_one(parser, "nd_all", "early_update", 4)


# In a pipeline


def weights_after(nlp: Language, steps: int = 3) -> bytes:
    numpy.random.seed(3)
    train(nlp, make_examples(nlp.vocab), steps=steps, drop=0.1)
    return parser_of(nlp).model.to_bytes()


def test_how_often_the_beam_is_used() -> None:
    """Never: as without; always: as without the setting; a schedule: first so, then so."""
    local = weights_after(make_nlp())
    beam = weights_after(make_nlp(update="max_violation"))
    assert local != beam
    assert weights_after(make_nlp(update="max_violation", share=1.0)) == beam
    then = {"@schedules": "constant.v1", "rate": 1.0}
    late = {"@schedules": "constant_then.v1", "rate": 0.0, "steps": 2, "schedule": then}
    mixed = weights_after(make_nlp(update="max_violation", share=late))
    assert mixed not in (local, beam)


def test_learning_and_storing() -> None:
    nlp = make_nlp(update="early_update", beam_width=4)
    learn(nlp, make_examples(nlp.vocab))
    other = spacy.util.load_model_from_config(nlp.config, auto_fill=True)
    other.from_bytes(nlp.to_bytes())
    assert parser_of(other).learning.update == "early_update"
    for trees in ([0, 1], [2, 4, 3]):  # lifted and lowered again
        gold = gold_doc(nlp.vocab, trees)
        assert tree(nlp(bare(gold))) == tree(gold)
        assert tree(other(bare(gold))) == tree(gold)


def test_rehearsing_and_partial_gold() -> None:
    nlp = make_nlp(update="max_violation", width=3)
    examples = make_examples(nlp.vocab)
    train(nlp, examples, steps=5)
    sgd = nlp.resume_training()
    assert nlp.rehearse(examples, sgd=sgd)["nm_parser"] >= 0
    partial = gold_doc(nlp.vocab, [0, 1])
    for token in partial:
        if token.i % 2:
            token.dep_ = ""
    loss = nlp.update([make_example(partial)], sgd=sgd)["nm_parser"]
    assert numpy.isfinite(loss)
