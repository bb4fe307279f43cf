"""The same bits whatever the batch, the order, the thread, the process and the processor; nearly
the same where numbers are rounded."""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.layers import products
from spacy_nmparse.layers.cpu import CLASS, CLASSES
from spacy_nmparse.layers.products import HAS_FIXED, HAS_TILES
from spacy_nmparse.pipe.words import even_parts
from tests.commands import python
from tests.pipe.common import (
    KINDS,
    NL,
    NM,
    SMALL,
    bare,
    make_examples,
    parser_of,
    random_docs,
    random_parser,
    randomize,
    surely_parsed,
)

N_THREADS = 4
SETTINGS: list[dict[str, Any]] = [{}, {"beam_width": 3}]
MORE = [(NM, {"confidence": False}), (NM, {"threads": 2})]
CASES = [*itertools.product(SMALL, SETTINGS), ("arc_swift", {})]


def make(kind: str, settings: dict[str, Any]) -> Language:
    nlp = spacy.blank("xx")
    config = {"confidence": True, **KINDS[kind], **settings}
    nlp.add_pipe(config.pop("factory"), config=config)
    nlp.initialize(lambda: make_examples(nlp.vocab))
    randomize(parser_of(nlp).model, seed=8, scale=0.15)
    return nlp


def some_docs(nlp: Language, lengths: list[int], n: int = 40) -> list[Doc]:
    """Documents of these and of any lengths, every fifth with preset sentence starts."""
    rng = random.Random(3)
    words = ["".join(rng.choices("aeioklmnst", k=rng.randint(1, 9))) for _ in range(400)]
    lengths = [*lengths, *(rng.randint(1, 40) for _ in range(n))]
    docs = [Doc(nlp.vocab, words=rng.choices(words, k=length)) for length in lengths]
    for doc in docs[::5]:
        for token in list(doc)[1:]:
            token.is_sent_start = rng.choice([None, None, None, True, False])
    return docs


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.skipif(not HAS_TILES, reason="OpenBLAS multiplies with MSVC")
@pytest.mark.parametrize(("kind", "settings"), CASES)
def test_same_bits(kind: str, settings: dict[str, Any]) -> None:
    nlp = make(kind, settings)
    docs = some_docs(nlp, [1, 2, 3, 150, 400])

    def parses(docs: list[Doc], size: int) -> list[Any]:
        return surely_parsed(nlp.pipe(map(Doc.copy, docs), batch_size=size))

    alone = parses(docs, 1)
    assert sum(map(len, docs)) > 1000  # a batch that large keeps vectors of words
    for size in (2, 7, 100):
        assert parses(docs, size) == alone
    assert parses(docs[::-1], 30) == alone[::-1]
    parser_of(nlp).threads = 3
    assert parses(docs, 16) == alone


@pytest.mark.parametrize(("kind", "settings"), [*CASES, *MORE])
@pytest.mark.usefixtures("hasty_threads")
def test_calls_of_threads_and_processes(kind: str, settings: dict[str, Any]) -> None:
    """Of the pipeline and of the parser alone, each in an order of its own."""
    nlp = make(kind, settings)
    docs, parser = some_docs(nlp, [0], 20), parser_of(nlp)
    expected = surely_parsed(map(nlp, map(Doc.copy, docs)))
    assert len({str(one) for one in expected}) > 15

    def shuffled(seed: int) -> None:
        order = random.Random(seed).sample(range(len(docs)), len(docs))
        mixed = [docs[i].copy() for i in order]
        found = map(nlp, mixed) if seed % 2 else (nlp, parser)[seed // 2].pipe(mixed, batch_size=3)
        assert surely_parsed(found) == [expected[i] for i in order]

    with ThreadPoolExecutor(N_THREADS) as pool:
        list(pool.map(shuffled, range(N_THREADS)))
    assert surely_parsed(nlp.pipe(map(Doc.copy, docs), n_process=2, batch_size=4)) == expected


@pytest.mark.parametrize("cpu", [cpu for cpu in CLASSES if cpu != CLASS])
def test_same_bits_on_other_processors(cpu: str) -> None:
    command = ("-m", "pytest", "-q", __file__, "-k", "test_same_bits and not other")
    done = python(*command, NMPARSE_CPU=cpu)
    assert done.returncode == 0, done.stdout


def test_the_stream_fails() -> None:
    """Documents before come, as from one thread; a batch of each thread is read ahead, no more."""
    nlp = random_parser(6, threads=2)
    docs, read, found = random_docs(nlp.vocab, 5, [6] * 40), [], []

    def stream(n: int) -> Iterator[Doc]:
        for doc in docs[:n]:
            read.append(doc)
            yield bare(doc)
        raise RuntimeError("no more")

    parser = parser_of(nlp)
    with pytest.raises(RuntimeError, match="no more"):
        for doc in parser.pipe(stream(12), batch_size=3):
            found.append(doc)
    assert [doc.text for doc in found] == [bare(doc).text for doc in docs[:12]]
    assert all(doc.has_annotation("DEP") for doc in found)
    read.clear()
    parses: Any = parser.pipe(stream(40), batch_size=4)
    next(parses)
    assert len(read) == 16
    parses.close()
    assert len(read) == 16


def test_even_parts() -> None:
    nlp = spacy.blank("xx")
    rng = random.Random(4)
    for _ in range(200):
        lengths = [rng.choice((0, 1, 3, 10)) for _ in range(rng.randrange(12))]
        docs = [Doc(nlp.vocab, words=["a"] * n) for n in lengths]
        n = rng.randrange(1, 6)
        parts = even_parts(docs, n)
        assert [doc for part in parts for doc in part] == docs
        assert 1 <= len(parts) <= n and (all(parts) or not docs)
        if sum(lengths):
            most = max(sum(map(len, part)) for part in parts)
            assert most <= sum(lengths) / n + max(lengths)


@pytest.mark.skipif(not HAS_FIXED, reason="the processor rounds nothing")
@pytest.mark.parametrize("factory", [NM, NL])
def test_rounded_numbers(factory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most trees are the exact ones, and the confidences near those; but they are not those."""
    nlp = random_parser(3, factory=factory, confidence=True)
    docs = random_docs(nlp.vocab, 1, (1, 5, 20) * 20)
    parses = []
    for rounds in (False, True):
        monkeypatch.setattr(products, "HAS_FIXED", rounds)
        products._known.clear()
        parses.append(surely_parsed(nlp.pipe(map(bare, docs))))
    differences = [
        abs(sure - known)
        for (found, (sures, _)), (expected, (knowns, _)) in zip(*parses, strict=True)
        if found == expected
        for sure, known in zip(sures, knowns, strict=True)
    ]
    assert len(differences) > 300
    assert 0 < sum(differences) / len(differences) < 0.001
