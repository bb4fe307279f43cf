"""Linear parsers in pipelines: updates, saving, labels, errors."""

from __future__ import annotations

import copy
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.analysis.tracing import prepared
from spacy_nmparse.lab.linear.perceptron import Perceptron as Weights
from spacy_nmparse.lab.linear.perceptron import perceptron_of
from spacy_nmparse.lab.linear.scorer import LinearScorer
from spacy_nmparse.pipe.words import Words
from tests.lab.linear import (
    BITS,
    LINEAR,
    by_heart,
    initialized,
    knows,
    learn_from,
    make_linear,
    set_tags,
    tagged_examples,
)
from tests.pipe.common import bare, gold_doc, make_examples, parser_of


def test_nothing_changes_before_finish_update() -> None:
    nlp = by_heart(n_updates=1)
    parser = parser_of(nlp)
    perceptron = perceptron_of(parser.model)
    present, average = perceptron.learning_weights().copy(), perceptron.parsing_weights().copy()
    examples = make_examples(nlp.vocab)
    scorer, _ = parser.model.begin_update(Words.of(eg.predicted for eg in examples).scorer_input())
    loss, _ = parser.get_loss(examples, scorer)
    parser.update(examples, sgd=None)
    assert loss > 0
    assert (perceptron.learning_weights() == present).all()
    assert (perceptron.parsing_weights() == average).all()
    parser.finish_update(None)
    assert (perceptron.learning_weights() != present).any()
    assert (perceptron.parsing_weights() != average).any()


def test_optimizers_and_dropout_make_no_difference() -> None:
    weights = []
    for options in ({"sgd": None, "drop": 0.0}, {"drop": 0.5}):
        nlp = initialized()
        optimizer = nlp.create_optimizer() if "sgd" not in options else None
        for _ in range(3):
            nlp.update(make_examples(nlp.vocab), **{"sgd": optimizer, **options})
            if optimizer is None:
                parser_of(nlp).finish_update(None)
        weights.append(perceptron_of(parser_of(nlp).model).parsing_weights())
    assert (weights[0] == weights[1]).all()


def test_saved_weights_are_the_averages(tmp_path: Path) -> None:
    nlp = by_heart(projectivize=True)
    nlp.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    again = make_linear(projectivize=True).from_bytes(nlp.to_bytes())
    expected = perceptron_of(parser_of(nlp).model).parsing_weights()
    for other in (loaded, again, copy.deepcopy(nlp)):
        model = parser_of(other).model
        assert (perceptron_of(model).parsing_weights() == expected).all()
        assert model.to_bytes() == parser_of(nlp).model.to_bytes()
        assert knows(other)
    assert knows(nlp, n_process=2)


@pytest.mark.parametrize("size", [10**12, 10**9, 17, 8, -1, "9", 9.0, None])
def test_a_size_that_the_weights_have_not(size: Any) -> None:
    """Is an error before there is room for so many."""
    content = {"known": b"\x80\x80", "weights": bytes(8)}
    known = Weights().from_bytes(srsly.msgpack_dumps({**content, "size": 9}))
    tracemalloc.start()
    with pytest.raises(ValueError, match="16 signs of weights"):
        known.from_bytes(srsly.msgpack_dumps({**content, "size": size}))
    with pytest.raises(ValueError):
        known.from_bytes(srsly.msgpack_dumps({**content, "size": 9, "weights": bytes(4000)}))
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    assert known.size == 9


def test_training_goes_on_from_saved_weights() -> None:
    nlp = by_heart(n_updates=10, projectivize=True)
    again = make_linear(projectivize=True).from_bytes(nlp.to_bytes())
    optimizer = again.resume_training()
    examples = tagged_examples(again.vocab)
    for _ in range(40):
        losses = again.update(examples, sgd=optimizer)
    assert losses[parser_of(again).name] == 0
    assert knows(again)


def test_a_copy_learns_by_itself() -> None:
    nlp = by_heart(n_updates=1)
    model = parser_of(nlp).model
    before = perceptron_of(model).parsing_weights().copy()
    other = copy.deepcopy(nlp)
    learn_from(other, make_examples(other.vocab))
    assert (perceptron_of(model).parsing_weights() == before).all()
    assert (perceptron_of(parser_of(other).model).parsing_weights() != before).any()


def test_documents_without_words() -> None:
    nlp = by_heart(n_updates=1)
    docs = [Doc(nlp.vocab), Doc(nlp.vocab, words=[" "]), Doc(nlp.vocab, words=["Yes"])]
    assert [len(doc) for doc in nlp.pipe(docs)] == [0, 1, 1]
    nlp.update([Example(Doc(nlp.vocab), Doc(nlp.vocab))])


def test_two_planar_is_learned() -> None:
    """By features of words, labels and distances that its moves need."""
    assert knows(by_heart(system={"@misc": "spacy_nmparse.System.v1", "name": "two_planar"}))


def test_new_labels_leave_what_is_known() -> None:
    nlp = by_heart(n_updates=20, projectivize=True)
    parser = parser_of(nlp)
    assert parser.add_label("new")
    assert knows(nlp)
    weights = perceptron_of(parser.model)
    example = make_examples(nlp.vocab, [[1]])[0]
    for token in example.reference:
        token.dep_ = "new" if token.dep_ == "cc" else token.dep_
    for _ in range(200):
        learn_from(nlp, [example])
    assert "new" in [token.dep_ for token in nlp(bare(example.reference))]
    assert weights.size == len(weights.parsing_weights())


def test_tags_are_looked_at() -> None:
    nlp = initialized()
    words = ["x", "y"]
    examples = []
    for heads, tags in (([0, 0], ["A", "B"]), ([1, 1], ["B", "A"])):
        deps = ["ROOT" if head == i else "obj" for i, head in enumerate(heads)]
        gold = Doc(nlp.vocab, words=words, heads=heads, deps=deps)
        examples.append(Example(Doc(nlp.vocab, words=words, tags=tags), gold))
    for _ in range(20):
        learn_from(nlp, examples)
    for example in examples:
        parsed = nlp(example.predicted.copy())
        assert [t.head.i for t in parsed] == [t.head.i for t in example.reference]


def test_tools_show_the_parser_the_tags_of_the_data() -> None:
    nlp = by_heart(n_updates=1)
    gold = set_tags(gold_doc(nlp.vocab, [0]))
    shown = prepared(nlp, parser_of(nlp), gold)
    assert [token.tag_ for token in shown] == [token.tag_ for token in gold]
    assert not shown.has_annotation("DEP")


# Errors


@pytest.mark.parametrize("system", ["NLCovington", "ArcSwift"])
def test_systems_with_arcs_from_afar_are_refused(system: str) -> None:
    name = {"NLCovington": "nl_covington", "ArcSwift": "arc_swift"}[system]
    with pytest.raises(ValueError, match=f"A linear scorer cannot score {name}: .* An arc scorer"):
        make_linear(system={"@misc": f"spacy_nmparse.{system}.v1"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 7}, "bits 7 must be 8 to 30"),
        ({"bits": 31}, "bits 31 must be 8 to 30"),
        ({"learner": "svm"}, "learner 'svm' must be one of"),
        ({"l1": -1.0}, "l1 -1.0 must be at least 0"),
        ({"min_count": 256}, "min_count 256 1 to 255"),
    ],
)
def test_options_have_bounds(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"LinearScorer: .*{message}"):
        LinearScorer(**options)


def test_what_it_cannot_be() -> None:
    with pytest.raises(ValueError, match="needs set_system"):
        LinearScorer().initialize()


def test_it_cannot_be_taught(tmp_path: Path) -> None:
    nlp = by_heart(n_updates=1)
    nlp.to_disk(tmp_path / "teacher")
    pupil = make_linear()
    parser = parser_of(pupil)
    with pytest.raises(ValueError, match="learns from gold trees alone"):
        parser.initialize(
            lambda: make_examples(pupil.vocab), nlp=pupil, teacher=str(tmp_path / "teacher")
        )


@pytest.mark.parametrize("wrong", ["bits", "weights", "data"])
def test_weights_of_another_model_are_refused(wrong: str) -> None:
    nlp = by_heart(n_updates=2)
    parser = parser_of(nlp)
    before = parser.to_bytes()
    options = {"bits": {"model": {**LINEAR, "bits": BITS + 1}}}.get(wrong, {})
    other = by_heart(n_updates=1, **options)
    if wrong == "weights":
        perceptron_of(parser_of(other).model).reset(100)
    data = srsly.msgpack_loads(parser_of(other).to_bytes())
    if wrong == "data":
        data["model"] = data["model"][:-20]
    with pytest.raises(ValueError, match="cannot load"):
        parser.from_bytes(srsly.msgpack_dumps(data))
    assert parser.to_bytes() == before
