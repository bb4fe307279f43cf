"""The same trees and confidences whatever the batch, the order, the process and the thread."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import Doc

from tests.pipe.common import overfitted, parser_of, random_doc, surely_parsed

N_THREADS = 4


@pytest.fixture(scope="module")
def nlp(kind: dict[str, Any]) -> Language:
    return overfitted(**kind)


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def some_docs(nlp: Language) -> list[Doc]:
    """Documents of any length, every fifth with preset sentence starts."""
    rng = random.Random(0)
    docs = [random_doc(nlp.vocab, rng, length) for length in (0, *rng.sample(range(40), 20))]
    for doc in docs[::5]:
        for token in list(doc)[1:]:
            token.is_sent_start = rng.choice([None, None, None, True, False])
    return docs


@pytest.mark.parametrize(("width", "confidence"), [(1, False), (1, True), (4, True)])
@pytest.mark.usefixtures("hasty_threads")
def test_calls(nlp: Language, width: int, confidence: bool) -> None:
    """Of the pipeline and of the parser alone."""
    docs, parser = some_docs(nlp), parser_of(nlp)
    parser.beam_width, parser.confidence = width, confidence
    expected = surely_parsed(nlp(doc) for doc in map(Doc.copy, docs))
    assert len({str(one) for one in expected}) > 15
    for size in (1, 2, 7, 1000):
        assert surely_parsed(nlp.pipe(map(Doc.copy, docs), batch_size=size)) == expected
        assert surely_parsed(parser.pipe(map(Doc.copy, docs), batch_size=size)) == expected

    def shuffled(seed: int) -> None:
        """In an order of its own, one by one or in batches."""
        order = random.Random(seed).sample(range(len(docs)), len(docs))
        mixed = [docs[i].copy() for i in order]
        found = map(nlp, mixed) if seed % 2 else nlp.pipe(mixed, batch_size=1 + seed)
        assert surely_parsed(found) == [expected[i] for i in order]

    with ThreadPoolExecutor(N_THREADS) as pool:
        list(pool.map(shuffled, range(N_THREADS)))


def test_processes(nlp: Language) -> None:
    parser_of(nlp).beam_width, parser_of(nlp).confidence = 2, True
    docs = some_docs(nlp)
    expected = surely_parsed(nlp(doc) for doc in map(Doc.copy, docs))
    assert surely_parsed(nlp.pipe(map(Doc.copy, docs), n_process=2, batch_size=4)) == expected
