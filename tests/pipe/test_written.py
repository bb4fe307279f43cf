"""Words of several documents, read in one call, and parses, written in one."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_nmparse.layers.word_types import find_types
from spacy_nmparse.pipe.doc_io import (
    fix_edges,
    gold_tags,
    parsed_tokens,
    set_heads,
    write_parses,
    write_tags,
)


def ints(*values: int) -> numpy.ndarray:
    return numpy.asarray(values, dtype="int32")


def write(docs: list[Doc]) -> None:
    """The middle word heads the others; the label of the first is new to all vocabularies."""
    n = len(docs)
    write_parses(
        docs,
        numpy.arange(3, 3 * n + 1, 3, dtype="int32"),
        numpy.tile(ints(0, 1, 2), n),
        numpy.tile(ints(1, 1, 1), n),
        numpy.tile(ints(1, 0, -1), n),
        numpy.tile(numpy.asarray([1, 0, 0], dtype="int8"), n),
        ["obj", "a label", "ROOT", "dep"],
    )


def test_labels_are_strings_of_each_vocabulary() -> None:
    vocabs = [Vocab(), Vocab(), Vocab()]
    docs = [Doc(vocabs[i], words=["x", "y", "z"]) for i in (0, 1, 1, 0, 2)]
    write(docs)
    for doc in docs:
        assert [token.dep_ for token in doc] == ["a label", "ROOT", "dep"]
        assert [token.head.i for token in doc] == [1, 1, 1]


def test_a_document_that_is_too_short() -> None:
    docs = [Doc(Vocab(), words=words) for words in (["x", "y", "z"], ["x", "y"])]
    with pytest.raises(ValueError, match="'x y ' has fewer tokens"):
        write(docs)
    assert not docs[1].has_annotation("DEP")


def test_words_of_several_documents_are_those_of_each() -> None:
    """The first word of a document has no start to keep: it starts a sentence anyway."""
    vocab = spacy.blank("xx").vocab
    texts = [["a", "b"], [], [" ", "a", " ", "b", "c"], ["\n"], ["a"]]
    starts = [[1, -1], [], [1, 0, 1, 0, -1], [1], [1]]
    docs = [
        Doc(vocab, words=words, sent_starts=preset)
        for words, preset in zip(texts, starts, strict=True)
    ]
    tokens, constraints, ends = parsed_tokens(docs)
    assert tokens.tolist() == [0, 1, 1, 3, 4, 0]
    assert constraints.tolist() == [0, -1, 0, 1, -1, 0]
    assert ends.tolist() == [2, 2, 5, 5, 6]


def test_what_is_no_document() -> None:
    nothing: Any = None
    doc = Doc(Vocab(), words=["x"])
    for call, *arguments in (
        (set_heads, nothing, nothing),
        (set_heads, doc, nothing),
        (parsed_tokens, [doc, nothing]),
        (find_types, [nothing], True),
        (fix_edges, nothing),
    ):
        with pytest.raises(TypeError, match="None"):
            call(*arguments)


@pytest.mark.parametrize(
    ("place", "values"),
    [
        *((1, ends) for ends in (ints(2), ints(3, 3), ints())),
        *((2, tokens) for tokens in (ints(0, 1, 3), ints(0, 1, -1), ints(0, 2, 1), ints(0, 1))),
        *((3, heads) for heads in (ints(1, 1, 3), ints(1, 1, -1))),
        (4, ints(0, 0, 2)),  # labels
        (5, numpy.zeros(4, dtype="int8")),  # starts
        (6, ["ROOT"]),  # names
    ],
)
def test_parses_of_another_document(place: int, values: Any) -> None:
    """Nothing is written; nor are tags."""
    doc = Doc(Vocab(), words=["x", "y", "z"])
    parse: list[Any] = [[doc], ints(3), ints(0, 1, 2), ints(1, 1, 1), ints(1, 0, -1)]
    parse += [numpy.zeros(3, dtype="int8"), ["a", "b", "ROOT", "dep"]]
    parse[place] = values
    with pytest.raises(ValueError):
        write_parses(*parse)
    assert not doc.has_annotation("DEP")
    for tokens in (ints(0, 3), ints(-1)):
        with pytest.raises(ValueError, match="3 tokens has no token"):
            gold_tags(Example(doc, doc.copy()), tokens)
        with pytest.raises(ValueError, match="3 tokens has no token"):
            write_tags(doc, tokens, numpy.ones((len(tokens), 3), dtype="uint64"))
    with pytest.raises(ValueError, match=r"shape \(2, 3\), not \(1, 3\)"):
        write_tags(doc, ints(0, 1), numpy.ones((1, 3), dtype="uint64"))
