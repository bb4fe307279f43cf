"""Training with a beam in a pipeline."""

from __future__ import annotations

import numpy
import spacy
from spacy.language import Language

from tests.pipe.common import (
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


def weights(nlp: Language, steps: int = 3) -> bytes:
    numpy.random.seed(3)
    train(nlp, make_examples(nlp.vocab), steps=steps, drop=0.1)
    return parser_of(nlp).model.to_bytes()


def test_how_often_the_beam_is_used() -> None:
    """Never: as without; always: as without the setting; a schedule: first so, then so."""
    local = weights(make_nlp())
    beam = weights(make_nlp(update="max_violation"))
    assert local != beam
    assert weights(make_nlp(update="max_violation", share=1.0)) == beam
    then = {"@schedules": "constant.v1", "rate": 1.0}
    late = {"@schedules": "constant_then.v1", "rate": 0.0, "steps": 2, "schedule": then}
    mixed = weights(make_nlp(update="max_violation", share=late))
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
