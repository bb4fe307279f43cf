"""Words without gold annotation teach nothing: no system, no oracle, no kind of search makes up
what is not known."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse import systems
from tests.pipe.common import (
    NL,
    NM,
    arc_model_config,
    bare,
    learn,
    make_examples,
    make_nlp,
    model_config,
    parser_of,
    settle,
    train,
)

SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "ArcEager": (NM, {"nonmonotonic_left": True, "nonmonotonic_reduce": True}),
    "ArcStandard": (NM, {}),
    "SwapStandard": (NM, {}),
    "ArcSwift": (NL, {}),
    "Covington": (NL, {}),
    "NLCovington": (NL, {}),
}
NAMES = dict(
    zip(
        SYSTEMS,
        ("arc_eager", "arc_standard", "swap_standard", "arc_swift", "covington", "nl_covington"),
        strict=True,
    )
)
CASES = [(system, oracle) for system in SYSTEMS for oracle in systems.create(NAMES[system]).oracles]


def make(system: str, oracle: str) -> Any:
    factory, options = SYSTEMS[system]
    model = model_config() if factory == NM else arc_model_config()
    return make_nlp(
        factory=factory,
        system={"@misc": f"spacy_nmparse.{system}.v1", **options},
        oracle=oracle,
        explore=0.5,
        model=model,
    )


@pytest.mark.parametrize(("system", "oracle"), CASES)
def test_nothing_is_learned_from_documents_without_trees(system: str, oracle: str) -> None:
    nlp = make(system, oracle)
    examples = make_examples(nlp.vocab)
    sgd = nlp.initialize(lambda: examples)
    parser = parser_of(nlp)
    plain = [Example(bare(eg.reference), bare(eg.reference)) for eg in examples]
    for training in ("local", "max_violation"):
        parser.beam_training = training
        nlp.update(examples, sgd=sgd)
        assert parser.update(plain, sgd=False)[parser.name] == pytest.approx(0.0, abs=1e-4)
        for node in parser.model.walk():
            for name in node.param_names:
                if node.has_grad(name):
                    assert numpy.abs(node.get_grad(name)).max() < 1e-5, (node.name, name)


@pytest.mark.parametrize(
    ("system", "oracle"),
    [
        *(pytest.param(system, "static", marks=pytest.mark.slow) for system in SYSTEMS),
        *((system, "dynamic") for system in SYSTEMS),
        ("ArcEager", "monotonic"),
        ("ArcEager", "combined"),
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
