"""The component's settings of training with a beam."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language

from tests.pipe.common import (
    NL,
    NM,
    SMALL,
    TOK2VEC,
    bare,
    gold_doc,
    learn,
    make_example,
    make_examples,
    make_nlp,
    parser_of,
    train,
    tree,
)

SETTINGS = {"beam_training": "early_update", "beam_train_width": 3, "beam_updates": 0.5}
DEFAULTS = {"beam_training": "local", "beam_train_width": 8, "beam_updates": 1.0}


@pytest.mark.parametrize("factory", [NM, NL, "swap_parser"])
def test_settings_of_the_factories(factory: str) -> None:
    nlp = spacy.blank("xx")
    for name, settings in (("a", {}), ("b", SETTINGS)):
        model: Any = {**SMALL.get(factory, {}).get("model", {}), "tok2vec": TOK2VEC}
        nlp.add_pipe(factory, name=name, config={"model": model, **settings})
    config = nlp.config
    blocks = config["components"]
    assert {key: blocks["a"][key] for key in DEFAULTS} == DEFAULTS
    assert {key: blocks["b"][key] for key in SETTINGS} == SETTINGS
    again = spacy.util.load_model_from_config(config, auto_fill=True)
    parser: Any = again.get_pipe("b")
    assert (parser.beam_training, parser.beam_train_width) == ("early_update", 3)
    assert parser.beam_updates.next() == 0.5
    for setting in DEFAULTS:
        del blocks["b"][setting]  # as in a config of an older version
    filled = spacy.util.load_model_from_config(config, auto_fill=True)
    assert {key: filled.config["components"]["b"][key] for key in DEFAULTS} == DEFAULTS


@pytest.mark.parametrize(
    ("setting", "value", "match"),
    [
        ("beam_training", "global", "local, max_violation, early_update"),
        ("beam_train_width", 0, "beam_train_width"),
        ("beam_updates", 1.5, "beam_updates is a probability"),
    ],
)
def test_wrong_settings(setting: str, value: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make_nlp(**{setting: value})


def test_misspelt_settings() -> None:
    nlp = make_nlp()
    parser = nlp.get_pipe("nm_parser")
    with pytest.raises(AttributeError, match=r"'beam_with'\. Did you mean beam_width"):
        parser.beam_with = 4
    with pytest.raises(AttributeError, match=r"no setting 'xyz'\.$"):
        parser.xyz = 4
    parser.explore = parser.explore  # no setting that is checked, but declared
    nlp.set_error_handler(lambda *_: None)


def test_attributes() -> None:
    parser = parser_of(make_nlp())
    parser.beam_training = "max_violation"
    parser.beam_train_width = 2
    for wrong in (0, True, 2.0):
        with pytest.raises(ValueError, match="beam_train_width"):
            parser.beam_train_width = wrong
    with pytest.raises(ValueError, match="max_violation"):
        parser.beam_training = None
    assert (parser.beam_training, parser.beam_train_width) == ("max_violation", 2)


def weights(nlp: Language, steps: int = 3) -> bytes:
    numpy.random.seed(3)
    train(nlp, make_examples(nlp.vocab), steps=steps, drop=0.1)
    return parser_of(nlp).model.to_bytes()


def test_how_often_the_beam_is_used() -> None:
    """Never: as without; always: as without the setting; a schedule: first so, then so."""
    local = weights(make_nlp())
    beam = weights(make_nlp(beam_training="max_violation"))
    assert local != beam
    assert weights(make_nlp(beam_training="max_violation", beam_updates=1.0)) == beam
    then = {"@schedules": "constant.v1", "rate": 1.0}
    late = {"@schedules": "constant_then.v1", "rate": 0.0, "steps": 2, "schedule": then}
    mixed = weights(make_nlp(beam_training="max_violation", beam_updates=late))
    assert mixed not in (local, beam)


def test_learning_and_storing() -> None:
    nlp = make_nlp(beam_training="early_update", beam_width=4)
    learn(nlp, make_examples(nlp.vocab))
    other = spacy.util.load_model_from_config(nlp.config, auto_fill=True)
    other.from_bytes(nlp.to_bytes())
    assert parser_of(other).beam_training == "early_update"
    for trees in ([0, 1], [2, 4, 3]):  # lifted and lowered again
        gold = gold_doc(nlp.vocab, trees)
        assert tree(nlp(bare(gold))) == tree(gold)
        assert tree(other(bare(gold))) == tree(gold)


def test_rehearsing_and_partial_gold() -> None:
    nlp = make_nlp(beam_training="max_violation", beam_train_width=3)
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
