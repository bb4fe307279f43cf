"""The same trees and confidences whatever the batch, the order, the process and the thread."""

from __future__ import annotations

import random

import pytest
from spacy.language import Language

from tests.pipe.common import SMALL, overfitted, parser_of, random_doc, tree
from tests.same import bare_copy, compare, n_different, parsed

TEXTS = ["She saw the cat .", "A hearing is scheduled on the issue today", "Yes", "", "Sleep !"]


@pytest.fixture(scope="module", params=SMALL)
def nlp(request: pytest.FixtureRequest) -> Language:
    return overfitted(factory=request.param)


@pytest.mark.parametrize(("width", "confidence"), [(1, False), (1, True), (4, True)])
def test_calls(nlp: Language, width: int, confidence: bool) -> None:
    rng = random.Random(0)
    docs = [random_doc(nlp.vocab, rng, rng.randrange(40)) for _ in range(95)][74:]
    for doc in docs[::5]:
        for token in list(doc)[1:]:
            token.is_sent_start = rng.choice([None, None, None, True, False])
    parser = parser_of(nlp)
    parser.beam_width, parser.confidence = width, confidence
    different = {name: count for name, _, count in compare(nlp, docs, n_threads=4)}
    assert "4 threads" in different
    assert not any(different.values()), different


def test_processes(nlp: Language) -> None:
    parser = parser_of(nlp)
    parser.beam_width, parser.confidence = 2, True
    expected = parsed([nlp(text) for text in TEXTS])
    assert n_different(parsed(list(nlp.pipe(TEXTS, n_process=2, batch_size=2))), expected) == 0


def test_differences_are_seen(nlp: Language) -> None:
    """compare can fail."""
    parser_of(nlp).confidence = True
    docs = [nlp(text) for text in TEXTS]
    expected = parsed(docs)
    assert n_different(expected, expected) == 0
    docs[0][0].dep_ = "other"
    assert n_different(parsed(docs), expected) == 1
    parser_of(nlp).confidence = False
    assert tree(nlp(TEXTS[1])) == expected[1][0]
    assert n_different(parsed([docs[0], nlp(TEXTS[1]), *docs[2:]]), expected) == 2
    assert all(len(bare_copy(doc)) == len(doc) for doc in docs)
