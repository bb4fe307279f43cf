"""Parsing with numbers rounded to bfloat16, where the processor is faster with them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.layers.products import HAS_BFLOAT16, HAS_TILES
from tests.pipe.common import (
    KINDS,
    bare,
    make_examples,
    parser_of,
    random_doc,
    random_parser,
    tree,
)

needs_bfloat16 = pytest.mark.skipif(not HAS_BFLOAT16, reason="the processor has no bfloat16")


def parses(nlp: Language, docs: list[Doc], rounded: bool, batch_size: int = 100) -> list[Any]:
    parser_of(nlp).rounded = rounded
    found = list(nlp.pipe((bare(doc) for doc in docs), batch_size=batch_size))
    return [(tree(doc), [token._.head_confidence for token in doc]) for doc in found]


def some_docs(nlp: Language) -> list[Doc]:
    rng = random.Random(1)
    return [random_doc(nlp.vocab, rng, rng.choice((1, 5, 20))) for _ in range(60)]


@needs_bfloat16
@pytest.mark.parametrize("factory", ["nm_parser", "nl_covington_parser"])
def test_nearly_the_same(factory: str) -> None:
    """Most trees are the exact ones, and the confidences near those; but they are not those."""
    nlp = random_parser(3, factory=factory, confidence=True)
    docs = some_docs(nlp)
    exact, rounded = (parses(nlp, docs, switch) for switch in (False, True))
    differences = [
        abs(sure - known)
        for (found, sures), (expected, knowns) in zip(rounded, exact, strict=True)
        if found == expected
        for sure, known in zip(sures, knowns, strict=True)
    ]
    assert len(differences) > 300
    assert 0 < sum(differences) / len(differences) < 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_same_whatever_the_batch(kind: str) -> None:
    """Also where the rows of some words are made only when they are looked at: in large batches."""
    nlp = random_parser(4, **KINDS[kind], confidence=True)
    docs = some_docs(nlp)
    expected = parses(nlp, docs, True)
    for size in (1, 7):
        for (found, sures), (known, known_sures) in zip(
            parses(nlp, docs, True, size), expected, strict=True
        ):
            assert found == known
            assert sures == (known_sures if HAS_TILES else pytest.approx(known_sures, abs=1e-4))


def test_training_is_exact() -> None:
    """What is learned does not depend on the setting."""
    learned = []
    for rounded in (False, True):
        nlp = random_parser(5, rounded=rounded)
        nlp.update(make_examples(nlp.vocab), sgd=nlp.create_optimizer())
        learned.append(parser_of(nlp).model.to_bytes())
    assert learned[0] == learned[1]
