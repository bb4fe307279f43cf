"""The different words of documents."""

from __future__ import annotations

import random

import pytest
import spacy
from spacy.attrs import NORM, ORTH, SHAPE
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_nmparse.layers.word_types import find_types


def some_docs() -> list[Doc]:
    """Documents of two vocabularies, an empty one among them, with norms of tokens' own."""
    rng = random.Random(3)
    vocabs = [spacy.blank("en").vocab, Vocab()]
    docs = []
    for n in (0, 1, 30, 200):
        words = [rng.choice("aAbB") + rng.choice(["", "x", "X", "yy"]) for _ in range(n)]
        docs.append(Doc(rng.choice(vocabs), words=words))
        for token in list(docs[-1])[::7]:
            token.norm_ = "own"
    return docs


@pytest.mark.parametrize("by_text", [False, True])
def test_words_are_found_again(by_text: bool) -> None:
    docs = some_docs()
    words, keys, place, owners = find_types(docs, by_text, bytes(len(docs)))
    expected: list[tuple[int, ...]] = []
    for doc in docs:
        fields = doc.to_array([NORM, SHAPE, ORTH][: 3 if by_text else 2])
        expected += map(tuple, fields.tolist())
    assert [tuple(words[i].tolist()) for i in place] == expected
    assert len(words) == len(set(expected)) == len(set(keys.tolist()))
    assert keys.tolist() == sorted(keys.tolist())
    firsts = [next(i for i, doc in enumerate(docs) if _has(doc, word)) for word in words.tolist()]
    assert owners.tolist() == firsts


def test_spaces_beside_punctuation() -> None:
    """They are in the shape of punctuation, not of words; a document's ends count as spaces."""
    vocab = spacy.blank("en").vocab
    words = ['"', "a", '"', "-", '"', "b", "c", "\n", '"', "`", '"']
    spaces = [False, False, True, True, False, False, True, False, False, False, False]
    doc = Doc(vocab, words, spaces)
    _, _, place, _ = find_types([doc, Doc(vocab, ["-", '"', "-"], [False] * 3)], False, b"\1\1")
    groups: dict[int, list[int]] = {}
    for i, number in enumerate(place.tolist()):
        groups.setdefault(number, []).append(i)
    # Opening quotes; closing ones; a quote with no space; dashes with two, one and one.
    quotes = [[0, 4, 8], [2, 10], [12]]
    assert sorted(groups.values()) == sorted([*quotes, [1], [3], [5], [6], [7], [9], [11], [13]])
    words, _, place, _ = find_types([doc], False, b"\0")
    assert [words[i, 1] for i in place] == doc.to_array([SHAPE]).tolist()


def _has(doc: Doc, word: list[int]) -> bool:
    return any([t.norm, t.shape, t.orth][: len(word)] == word for t in doc)


def test_a_word_has_the_same_number_in_any_batch() -> None:
    docs = some_docs()
    known: dict[tuple[int, ...], int] = {}
    for batch in (docs, docs[2:], docs[::-1]):
        words, keys, _, _ = find_types(batch, False, bytes(len(batch)))
        for word, key in zip(words.tolist(), keys.tolist(), strict=True):
            assert known.setdefault(tuple(word), key) == key
