"""Words without gold annotation teach nothing: no oracle and no search makes up what is unknown."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry

from spacy_nmparse.lab.beam.learning import BeamLearning
from spacy_nmparse.pipe.learning import GreedyLearning
from tests.pipe.common import (
    SYSTEMS,
    bare,
    learn,
    make_examples,
    make_nlp,
    parser_of,
    settle,
    train,
)

NAMES = ("arc-eager", "arc-standard", "swap", "arc-swift", "covington", "nl")
CASES = [
    (name, oracle)
    for name in NAMES
    for oracle in registry.resolve({"one": SYSTEMS[name]["system"]})["one"].create(None).oracles
]


def make(system: str, oracle: str) -> Any:
    return make_nlp(**SYSTEMS[system], oracle=oracle, explore=0.5)


@pytest.mark.parametrize(("system", "oracle"), CASES)
def test_nothing_is_learned_from_documents_without_trees(system: str, oracle: str) -> None:
    nlp = make(system, oracle)
    examples = make_examples(nlp.vocab)
    sgd = nlp.initialize(lambda: examples)
    parser = parser_of(nlp)
    plain = [Example(bare(eg.reference), bare(eg.reference)) for eg in examples]
    for learning in (GreedyLearning(oracle, 0.5), BeamLearning(oracle, 0.5)):
        parser.learning = learning
        nlp.update(examples, sgd=sgd)
        assert parser.update(plain, sgd=False)[parser.name] == pytest.approx(0.0, abs=1e-4)
        for node in parser.model.walk():
            for name in node.param_names:
                if node.has_grad(name):
                    assert numpy.abs(node.get_grad(name)).max() < 1e-5, (node.name, name)


@pytest.mark.parametrize(
    ("system", "oracle"),
    [
        *(pytest.param(system, "static", marks=pytest.mark.slow) for system in NAMES),
        *((system, "dynamic") for system in NAMES),
        ("arc-eager", "monotonic"),
        ("arc-eager", "combined"),
    ],
)
def test_partial_trees_do_not_harm(system: str, oracle: str) -> None:
    """After training on whole trees, half of the heads are taken away: the trees are kept."""
    nlp = make(system, oracle)
    examples = make_examples(nlp.vocab, [[0], [1], [4], [5]])
    sgd = nlp.initialize(lambda: examples)
    learn(nlp, examples, sgd=sgd)
    before = nlp.evaluate(examples)["dep_las"]
    partial = []
    for example in examples:
        gold = example.reference
        deps = [t.dep_ if t.i % 2 else "" for t in gold]
        heads = [t.head.i if t.i % 2 else t.i for t in gold]
        half = Doc(nlp.vocab, words=[t.text for t in gold], heads=heads, deps=deps)
        partial.append(Example(bare(gold), half))
    train(nlp, partial, steps=60, sgd=sgd)
    settle(nlp, partial, sgd)
    after = nlp.evaluate(make_examples(nlp.vocab, [[0], [1], [4], [5]]))["dep_las"]
    assert before > 0.9
    assert after > 0.9
