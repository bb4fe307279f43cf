"""The linear scorer against a plain implementation: features, scores, perceptron, averages."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
from spacy.tokens import Doc

from spacy_nmparse import systems
from spacy_nmparse.lab.linear.kernel import LinearScorerKernel
from spacy_nmparse.lab.linear.perceptron import perceptron_of
from spacy_nmparse.lab.linear.scorer import LinearScorer, read_words, system_features
from spacy_nmparse.lab.linear.templates import Templates
from spacy_nmparse.lab.linear.zhang_nivre import ADDITIONAL, TEMPLATES
from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.pipe.words import Words
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.search import beam, greedy
from spacy_nmparse.systems import Action, Gold
from tests.exhaustive import graph
from tests.lab.linear import (
    BITS,
    FACTORIES,
    LINEAR,
    LOGISTIC,
    REPAIRS,
    SYSTEMS,
    by_heart,
    gold_of,
    initialized,
    knows,
    learn_from,
    make_linear,
    plain,
    randomize,
    seen,
    set_tags,
    tagged_examples,
)
from tests.naive.linear import Logistic, Perceptron, best, features, noted_label
from tests.naive.scorers import View
from tests.pipe.common import DOCUMENTS, make_example, make_examples, parser_of, random_doc

# Features


@pytest.mark.parametrize(("name", "options"), SYSTEMS)
def test_features_are_those_of_the_plain_implementation(name: str, options: dict[str, Any]) -> None:
    labels = ("a", "b", "c")
    system = systems.create(name, labels=labels, **options)
    names = system_features(system)
    templates = Templates(names)
    rng = random.Random(2)
    for _ in range(12):
        n = rng.randint(1, 14)
        words = [rng.getrandbits(64) for _ in range(n)]
        tags = [rng.choice((0, 5, 7)) for _ in range(n)]
        arrays = [numpy.array(one, dtype="uint64") for one in (words, tags)]
        state = system.initial(n)
        while not state.is_final:
            view = View.of(system, state)
            expected = features(names, view, words, tags, labels, BITS)
            assert templates.features(state, *arrays, BITS) == expected
            system.apply(state, rng.choice(system.actions(state)), push_label="b")


def test_the_templates_of_arc_eager_are_those_of_the_paper() -> None:
    names = system_features(systems.create("arc_eager"))
    assert len(names) == len(set(names)) == 72
    for name in (
        "S0.word*S0.tag*B0.word*B0.tag",
        "B0.tag*B1.tag*B2.tag",
        "S0.h.tag*S0.tag*B0.tag",
        "S0.word*B0.word*S0-B0.distance",
        "B0.tag*B0.n_left",
        "S0.h.h.word",
        "S0.tag*S0.r1.tag*S0.r2.tag",
        "B0.word*B0.left_labels",
    ):
        assert name in names
    assert TEMPLATES["S0-B0"] == names


def test_lists_of_templates_have_names() -> None:
    """The draft on repairs names 19, one of them and another one twice."""
    both = LinearScorer(features=["zhang_nivre", "additional", "S1.r2.tag"]).attrs["features"]
    assert both == [*TEMPLATES["S0-B0"], *ADDITIONAL, "S1.r2.tag"]
    assert len(ADDITIONAL) == 17
    assert "S2.tag*B0.word*B1.word" in ADDITIONAL


def test_templates_look_at_the_words_that_arcs_join() -> None:
    both = system_features(systems.create("arc_hybrid"))
    assert both == list(dict.fromkeys(TEMPLATES["S0-B0"] + TEMPLATES["S1-S0"]))
    assert system_features(systems.create("arc_standard")) == TEMPLATES["S1-S0"]
    assert system_features(systems.create("swap_standard")) == TEMPLATES["S1-S0"]
    assert system_features(systems.create("covington")) == TEMPLATES["I1-B0"]
    assert "S1.r2.tag" in system_features(systems.create("arc_eager", **REPAIRS))


def test_sets_of_labels_know_no_order_and_no_number() -> None:
    system = systems.create("arc_standard", labels=("a", "b"))
    templates = Templates(["S0.right_labels"])
    nothing = numpy.zeros(4, dtype="uint64")

    def after(*labels: str) -> list[int]:
        state = system.initial(4)
        system.apply(state, Action("SHIFT"))
        for label in labels:
            system.apply(state, Action("SHIFT"))
            system.apply(state, Action("RIGHT-ARC", 1, label))
        return templates.features(state, nothing, nothing, BITS)

    assert after("a", "b") == after("b", "a") == after("a", "b", "a")
    assert after("a") != after("b") != after("a", "b")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["S0.colour"], "'S0.colour'"),
        (["S0"], "as S0.word"),
        (["Q0.word"], "'Q0'"),
        (["S0.word", "S0.word"], "named twice"),
        (["*".join(f"S{i}.word" for i in range(5))], "more than 4"),
        ([], "1 to 192 templates"),
    ],
)
def test_bad_templates_are_named(names: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("*", r"\*")):
        LinearScorer(features=names)


def test_words_are_norms_and_tags_or_parts_of_speech() -> None:
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, words=["Dogs", " ", "bark", "!"], pos=["NOUN", "SPACE", "VERB", "PUNCT"])
    doc[0].tag_ = "NNS"
    rows, _, _ = parsed_tokens([doc])
    words, tags = read_words(ScorerInput([doc], rows))
    assert words.tolist() == [nlp.vocab.strings[text] for text in ("dogs", "bark", "!")]
    assert tags.tolist() == [nlp.vocab.strings["NNS"], doc[2].pos, doc[3].pos]


# Scores


@pytest.mark.parametrize(("factory", "config"), FACTORIES)
def test_parsing_follows_the_best_move_and_label(factory: str, config: dict[str, Any]) -> None:
    nlp = initialized(factory=factory, **config)
    parser = parser_of(nlp)
    randomize(parser)
    rng = random.Random(0)
    docs = [set_tags(random_doc(nlp.vocab, rng, rng.randint(1, 9), space=0.0)) for _ in range(20)]
    naive = plain(parser)
    for doc in docs:
        words, tags = seen(doc)
        state = parser.system.initial(len(doc))
        while not state.is_final:
            found = naive.features(state, words, tags)
            actions = parser.system.actions(state)
            noted = noted_label(naive, found, "RIGHT-ARC" if factory == "nm_parser" else None)
            parser.system.apply(state, best(naive.scores(found, actions)), push_label=noted)
        arcs = parser.predict([doc]).arcs
        # words that a list system leaves headless are completed otherwise
        known = [i for i, head in enumerate(state.heads) if head is not None]
        assert [arcs.heads[i] for i in known] == [state.heads[i] for i in known]


# Learning


def rolled_out(
    model: Perceptron,
    gold: Gold,
    words: list[int],
    tags: list[int],
    follow_model: bool,
    noted: bool,
) -> int:
    """The perceptron's rule along one rollout. Returns the number of mistakes."""
    system = model.system
    state = system.initial(len(gold))
    mistakes = 0
    while not state.is_final:
        found = model.features(state, words, tags)
        label = noted_label(model, found, "RIGHT-ARC" if noted else None)
        actions = system.actions(state)
        if len(actions) == 1:
            system.apply(state, actions[0], push_label=label)
            continue
        scores = model.scores(found, actions)
        allowed = system.oracle(state, gold, "dynamic", push_label=label)
        predicted = best(scores)
        right = predicted
        if predicted not in allowed:
            right = best({action: scores[action] for action in actions if action in allowed})
            model.add(found, right, 1)
            model.add(found, predicted, -1)
            mistakes += 1
        model.count()
        system.apply(state, predicted if follow_model else right, push_label=label)
    return mistakes


@pytest.mark.parametrize("explore", [0.0, 1.0])
@pytest.mark.parametrize("factory", ["nm_parser", "swap_parser"])
def test_updates_and_averages_are_those_of_the_plain_perceptron(
    factory: str, explore: float
) -> None:
    nlp = initialized(factory=factory, explore=explore, oracle="dynamic")
    parser = parser_of(nlp)
    naive = Perceptron(parser.system, parser.model.attrs["features"], BITS)
    perceptron = perceptron_of(parser.model)
    for _ in range(8):
        examples = tagged_examples(nlp.vocab, [[0], [1], [2], [4], [5]])
        random.Random(1).shuffle(examples)
        expected = 0
        for example in examples:
            words_and_tags = seen(example.predicted)
            how = (explore == 1, factory == "nm_parser")
            expected += rolled_out(naive, gold_of(parser, example), *words_and_tags, *how)
        losses = parser.update(examples, sgd=None, losses={parser.name: 0.0})
        parser.finish_update(None)
        assert losses[parser.name] == expected
        present = dict(enumerate(perceptron.learning_weights().tolist()))
        assert {p: w for p, w in present.items() if w} == {
            p: w for p, w in naive.weights.items() if w
        }
        average = perceptron.parsing_weights()
        for place, value in naive.averages().items():
            assert average[place] == pytest.approx(value, abs=1e-6)
        assert numpy.count_nonzero(average) == sum(map(bool, naive.sums.values()))
    assert expected < 10  # it has learned something


def test_updates_of_a_logistic_regression_are_those_of_the_plain_one() -> None:
    """Along the oracle's moves, to trees without crossing arcs; pruning and penalties included."""
    options = {"l1": 0.01, "min_count": 2}
    nlp = initialized(oracle="static", explore=0.0, model={**LOGISTIC, **options})
    parser = parser_of(nlp)
    names = parser.model.attrs["features"]
    naive = Logistic(parser.system, names, BITS, options["l1"], options["min_count"])
    learner = perceptron_of(parser.model)
    for example in tagged_examples(nlp.vocab, [[0], [1], [5]]) * 3:
        gold = gold_of(parser, example)
        words, tags = seen(example.predicted)
        state = parser.system.initial(len(gold))
        while not state.is_final:
            actions = parser.system.actions(state)
            (right,) = parser.system.oracle(state, gold, "static")
            if len(actions) > 1:
                naive.learn(naive.features(state, words, tags), actions, {right})
            parser.system.apply(state, right)
        parser.update([example], sgd=None)
        parser.finish_update(None)
        present = learner.learning_weights()
        for place, weight in naive.weights.items():
            assert present[place] == pytest.approx(weight, abs=1e-5)
        assert numpy.count_nonzero(present) == sum(map(bool, naive.weights.values()))
        parsing = learner.parsing_weights()
        for place in naive.weights:
            assert parsing[place] == pytest.approx(naive.penalized(place), abs=1e-5)
    assert 0 < numpy.count_nonzero(parsing) < numpy.count_nonzero(present)


def test_a_logistic_regression_learns_and_is_saved(tmp_path: Path) -> None:
    room = {"model": {**LOGISTIC, "bits": 16, "l1": 1e-5, "min_count": 1}}
    nlp = by_heart(projectivize=True, **room)
    assert knows(nlp)
    nlp.to_disk(tmp_path / "model")
    again = spacy.load(tmp_path / "model")
    assert knows(again)
    assert parser_of(again).add_label("new")
    learn_from(again, make_examples(again.vocab))
    assert knows(again)


def test_a_logistic_regression_does_not_learn_from_a_beam() -> None:
    nlp = initialized(model=LOGISTIC, update="max_violation")
    with pytest.raises(ValueError, match="does not learn from a beam: set learning"):
        learn_from(nlp, make_examples(nlp.vocab))


@pytest.mark.parametrize(("factory", "config"), FACTORIES)
@pytest.mark.parametrize("training", ["local", "max_violation", "early_update", "latent"])
def test_trees_are_learned_by_heart(factory: str, config: dict[str, Any], training: str) -> None:
    if training == "local":
        assert knows(by_heart(factory=factory, **config))
        return
    how = {"update": training, "width": 4}
    alone = [trees for trees in DOCUMENTS if len(trees) == 1]
    room = {"model": {**LINEAR, "bits": 18}}  # a beam finds what shared weights favour
    nlp = by_heart(documents=alone, factory=factory, **config, **how, **room, beam_width=4)
    assert knows(nlp, alone)


def test_a_beam_learns_from_scored_moves_alone() -> None:
    """A forced move adds nothing to a sequence's score: weights for it would only be noise."""
    nlp = make_linear(update="max_violation", width=4)
    doc = Doc(nlp.vocab, words=["I", "saw", "stars"], heads=[1, 1, 1], deps=["a", "ROOT", "b"])
    nlp.initialize(lambda: [make_example(doc)])
    parser = parser_of(nlp)
    words, tags = seen(doc)
    model = Perceptron(parser.system, parser.model.attrs["features"], BITS)
    forced, scored = set(), set()
    for node in graph(parser.system, parser.system.initial(len(doc)), (None,)):
        moves = {action.move for action in node.actions}
        found = forced if len(node.actions) == 1 and moves != {"SHIFT"} else scored
        if moves:
            found.add(tuple(model.features(node.state, words, tags)))
    learned = []
    for _ in range(3):
        parser.update([make_example(doc)], sgd=None)
        (changes,) = perceptron_of(parser.model)._pending
        for first, last in pairwise([0, *changes.records["features"].tolist()]):
            learned.append(tuple(changes.features[first:last].tolist()))
        parser.finish_update(None)
    assert learned and set(learned) <= scored - forced


@pytest.mark.parametrize("oracle", ["static", "combined", "monotonic"])
def test_all_oracles_teach(oracle: str) -> None:
    explore = 0.0 if oracle == "static" else 1.0
    room = {"model": {**LINEAR, "bits": 16}}
    assert knows(by_heart(oracle=oracle, explore=explore, projectivize=True, **room))


# Search


def scored(parser: Any, doc: Doc) -> tuple[Any, ...]:
    words = Words.of([doc])
    found = parser.score_moves(words)
    return parser.system, found, words.lengths, words.constraints


@pytest.mark.parametrize(("factory", "config"), FACTORIES)
def test_a_beam_of_one_is_greedy_search(factory: str, config: dict[str, Any]) -> None:
    nlp = initialized(factory=factory, **config)
    parser = parser_of(nlp)
    randomize(parser)
    rng = random.Random(4)
    for _ in range(20):
        batch = scored(parser, random_doc(nlp.vocab, rng, rng.randint(1, 12), space=0.0))
        one, other = greedy.parse(*batch), beam.parse(*batch, 1)
        assert all((a == b).all() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("factory", ["nm_parser", "swap_parser"])
def test_a_wide_beam_finds_the_highest_sum_of_scores(factory: str) -> None:
    """A final configuration goes on with the mean score of its moves, so that SWAPs, which make
    sequences longer, are worth nothing by themselves."""
    nlp = initialized(factory=factory)
    parser = parser_of(nlp)
    randomize(parser)
    naive = plain(parser)
    notes = "RIGHT-ARC" if factory == "nm_parser" else None
    doc = Doc(nlp.vocab, words=["She", "saw"])
    words, tags = seen(doc)

    def after(state: Any) -> Iterator[tuple[float, Any]]:
        actions = parser.system.actions(state)
        found = naive.features(state, words, tags)
        noted = noted_label(naive, found, notes)
        # a sole move without a label is made unscored
        scores = naive.scores(found, actions) if len(actions) > 1 else {actions[0]: 0.0}
        for action, score in scores.items():
            copy = state.copy()
            parser.system.apply(copy, action, push_label=noted)
            yield score, copy

    def search(goes_on: bool) -> float:
        live: list[tuple[float, list[float], Any]] = [(0.0, [], parser.system.initial(2))]
        while not all(state.is_final for *_, state in live):
            following = []
            for score, made, state in live:
                if state.is_final:
                    mean = sum(made) / len(made) if goes_on else 0.0
                    following.append((score + mean, made, state))
                else:
                    following += [(score + new, [*made, new], then) for new, then in after(state)]
            live = following
        return max(score for score, *_ in live)

    ((score, *_), *_) = beam.n_best(*scored(parser, doc), 3000, 1)[0]
    assert score == pytest.approx(search(goes_on=True))
    assert score > search(goes_on=False) + 1


def test_words_of_another_configuration() -> None:
    state = systems.create("arc_eager").initial(3)
    templates = Templates(["S0.word*B0.tag"])
    three, two = numpy.zeros(3, "uint64"), numpy.zeros(2, "uint64")
    templates.features(state, three, three, BITS)
    for words, tags, bits in ((two, three, BITS), (three, two, BITS), (three, three, 0)):
        with pytest.raises(ValueError, match="A configuration of 3 words"):
            templates.features(state, words, tags, bits)
    system = systems.create("arc_eager")
    for words, tags, bits in ((three, two, BITS), (three, three, 64), (three, three, -1)):
        with pytest.raises(ValueError, match="There are 3 words but"):
            LinearScorerKernel(templates, system, words, tags, numpy.zeros(9, "float32"), bits)
