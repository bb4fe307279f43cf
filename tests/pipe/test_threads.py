"""Parsing in several threads; that the parses are the same, test_batches.py tests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc

from spacy_nmparse.pipe.words import even_parts
from tests.pipe.common import (
    bare,
    noted_failures,
    parsed,
    parser_of,
    random_docs,
    random_parser,
    tree,
)


def test_threads_of_threads_and_processes() -> None:
    nlp = random_parser(4, threads=2)
    docs = random_docs(nlp.vocab, 2, [12] * 30)
    expected = parsed(nlp, docs, batch_size=16)
    with ThreadPoolExecutor(3) as pool:
        found = pool.map(lambda _: parsed(nlp, docs, batch_size=16), range(6))
        assert list(found) == [expected] * 6
    texts = [bare(doc).text for doc in docs[:8]]
    alone = [tree(doc) for doc in nlp.pipe(texts)]
    assert [tree(doc) for doc in nlp.pipe(texts, n_process=2)] == alone


def test_one_document_fails() -> None:
    nlp = random_parser(5, threads=3)
    docs = random_docs(nlp.vocab, 3, [6] * 9)
    whole = parser_of(nlp)._parse

    def failing(words: Any, *how: Any) -> Any:
        if any(doc.text == bare(docs[4]).text for doc in words.docs):
            raise RuntimeError("one")
        return whole(words, *how)

    parser_of(nlp)._parse = failing
    failed = noted_failures(parser_of(nlp))
    found = list(nlp.pipe(bare(doc) for doc in docs))
    assert len(found) == 8 and [len(texts) for _, texts, _ in failed] == [1]
    assert all(doc.has_annotation("DEP") for doc in found)


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
