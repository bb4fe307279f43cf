"""Annotations of the parser: arcs, parses of documents, trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_nmparse.layers.treebanks import copy_treebank

SPACE_LABEL = "dep"
#: In ``doc.user_data``: the words are given, and stay as they are.
GIVEN = "spacy_nmparse.given_words"


class Arcs(NamedTuple):
    """A parse over the words of a document, or of several, one after the other.

    Attributes:
        heads: int32 (words,): of each word its head's number in its document, of a root its own.
        labels: int32 (words,): of each word its label's number.
        starts: int8 (words,): 1 where a sentence starts.
    """

    heads: numpy.ndarray
    labels: numpy.ndarray
    starts: numpy.ndarray


NO_ARCS = Arcs(
    numpy.zeros(0, dtype="int32"), numpy.zeros(0, dtype="int32"), numpy.zeros(0, dtype="int8")
)


@dataclass
class Parses:
    """Parses of some documents, one after the other.

    Attributes:
        ends: int32 (documents,): where the words of each document end.
        tokens: int32 (words,): the tokens that are words, numbered within their document.
        arcs: Of all words.
        probabilities: float32 (2, words): those of the head, and of the label with that head. None:
            they are not wanted.
        tags: int32 (words,): the words' triples in a ``TagSet``. None: they are not wanted.
        names: What the labels' numbers mean. None: they are those of the parser.
        known: bool (words,): whose heads were known before. None: no word's.
    """

    ends: numpy.ndarray
    tokens: numpy.ndarray
    arcs: Arcs
    probabilities: numpy.ndarray | None = None
    tags: numpy.ndarray | None = None
    names: list[str] | None = None
    known: numpy.ndarray | None = None

    def by_document(self) -> list[Parses]:
        """The parse of each document."""
        ends = self.ends.tolist()
        return [
            Parses(
                numpy.asarray([last - first], dtype="int32"),
                self.tokens[first:last],
                Arcs(*(array[first:last] for array in self.arcs)),
                None if self.probabilities is None else self.probabilities[:, first:last],
                None if self.tags is None else self.tags[first:last],
                known=None if self.known is None else self.known[first:last],
            )
            for first, last in zip([0, *ends], ends, strict=False)
        ]


class ScoredTree(NamedTuple):
    """A tree over the tokens of a document, and its score. A root is its own head."""

    score: float
    heads: list[int]
    labels: list[str]
    sent_starts: list[bool]

    @classmethod
    def of(cls, doc: Doc, score: float) -> ScoredTree:
        """The tree of a parsed document."""
        return cls(
            score,
            [token.head.i for token in doc],
            [token.dep_ for token in doc],
            [bool(token.is_sent_start) for token in doc],
        )


def same_tokens(
    doc: Doc, vocab: Vocab | None = None, sent_starts: Sequence[int | bool | None] | None = None
) -> Doc:
    """A document with the words and spaces of another, which it keeps, and these sentence starts.

    Args:
        doc: The other document.
        vocab: Of the new one; None: the same.
        sent_starts: As ``Doc`` takes them.
    """
    words = [token.text for token in doc]
    spaces = [bool(token.whitespace_) for token in doc]
    starts: Any = sent_starts
    found = Doc(doc.vocab if vocab is None else vocab, words, spaces, sent_starts=starts)
    found.user_data[GIVEN] = True  # type: ignore[index]
    copy_treebank(doc, found)
    return found


def copy_tags(source: Doc, target: Doc) -> None:
    """Give a document the tags of another one with the same tokens; where that has none, its parts
    of speech."""
    attribute = "TAG" if source.has_annotation("TAG") else "POS"
    tags: Any = source.to_array([attribute])
    target.from_array([attribute], tags)
