"""The component with arc-swift, on the arc scorer."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model_from_config

from benchmarks.systems import find_system
from spacy_nmparse.systems.projective import crossing_arcs
from tests.pipe.common import (
    DOCUMENTS,
    NL,
    arc_model_config,
    assert_edges,
    assert_sound,
    assert_starts_kept,
    bare,
    gold_doc,
    make_examples,
    make_nlp,
    overfitted,
    parser_of,
    random_doc,
    random_parser,
    randomize,
    train,
    tree,
)

SWIFT: dict[str, Any] = {"@misc": "spacy_nmparse.ArcSwift.v1"}


@pytest.fixture(scope="module")
def swift() -> Language:
    """Do not change it."""
    return overfitted(factory=NL, system=SWIFT, projectivize=True)


def knows_the_trees(nlp: Language) -> bool:
    golds = [gold_doc(nlp.vocab, trees) for trees in DOCUMENTS]
    return [tree(doc) for doc in nlp.pipe(bare(gold) for gold in golds)] == [
        tree(gold) for gold in golds
    ]


def test_overfitting(swift: Language) -> None:
    """With the dynamic oracle; crossing arcs by lifting."""
    assert parser_of(swift).system.name == "arc_swift"
    assert parser_of(swift).cfg == {"projectivize": True}
    assert knows_the_trees(swift)


def test_overfitting_with_the_static_oracle_and_default_features() -> None:
    model = arc_model_config(features=None)
    nlp = overfitted(factory=NL, system=SWIFT, projectivize=True, oracle="static", model=model)
    assert knows_the_trees(nlp)


def test_the_loss_falls() -> None:
    nlp = make_nlp(factory=NL, system=SWIFT)  # crossing gold: nothing is lifted
    examples = make_examples(nlp.vocab)
    sgd = nlp.initialize(lambda: examples)
    first = nlp.update(examples, sgd=sgd)[NL]
    assert train(nlp, examples, sgd=sgd, steps=40) < first / 5


def test_beam_and_n_best(swift: Language) -> None:
    parser = parser_of(swift)
    golds = [gold_doc(swift.vocab, trees) for trees in DOCUMENTS]
    found = parser.n_best([bare(gold) for gold in golds], n=3)
    for gold, analyses in zip(golds, found, strict=True):
        assert analyses[0].heads == [token.head.i for token in gold]
        assert all(a.score >= b.score for a, b in itertools.pairwise(analyses))


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("preset", [0.0, 0.2])
def test_random_parsers_are_sound(width: int, preset: float) -> None:
    rng = random.Random(5)
    sentences = 0
    for seed in range(3):
        nlp = random_parser(seed, factory=NL, system=SWIFT, beam_width=width)
        randomize(parser_of(nlp).model, seed, 0.2)
        for length in (0, 1, 2, 3, 8, 20, 60):
            words = [token.text for token in random_doc(nlp.vocab, rng, length, 0.1)]
            starts = [rng.choice([1, -1]) if rng.random() < preset else 0 for _ in words]
            doc = nlp(Doc(nlp.vocab, words=words, sent_starts=starts))
            assert_sound(doc)
            assert_edges(doc)
            assert_starts_kept(doc, starts)
            assert not crossing_arcs([token.head.i for token in doc])
            sentences += len(list(doc.sents)) > 1
    assert sentences > 3


def test_config() -> None:
    """Complete, and as the others but for the parser."""
    swift, other = (find_system(name).build() for name in ("arc_swift", NL))
    nlp = load_model_from_config(swift, auto_fill=True)
    parser = parser_of(nlp)
    assert parser.system_spec.name == "arc_swift"
    assert parser.oracle == "combined"
    assert parser.cfg == {"projectivize": True}
    assert swift["components"].pop("parser") != other["components"].pop("parser")
    assert swift == other


def test_disk(swift: Language, tmp_path: Path) -> None:
    swift.to_disk(tmp_path)
    assert knows_the_trees(spacy.load(tmp_path))
