"""Parses of documents, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy
from spacy.tokens import Doc

from spacy_nmparse.pipe.confidence import KEY, write_confidences
from spacy_nmparse.pipe.doc_io import preset_starts, write_parse
from spacy_nmparse.pipe.gold import ROOT_LABEL

SPACE_LABEL = "dep"


class Arcs(NamedTuple):
    """A parse over the words of a document.

    Attributes:
        heads: int32 (words,): of each word its head's number, of a root its own.
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
    """Parses of some documents.

    Attributes:
        tokens: Of each, int32 (words,): the tokens that are words.
        arcs: Of each, the parse; None: it has no word.
        probabilities: Of each, float32 (2, words): those of the head, and of the label with that
            head. None: they are not wanted.
        tags: Of each, int32 (words,): the words' triples in a ``TagSet``. None: they are not
            wanted.
    """

    tokens: list[numpy.ndarray]
    arcs: list[Arcs | None]
    probabilities: list[numpy.ndarray] | None = None
    tags: list[numpy.ndarray] | None = None

    @classmethod
    def joined(cls, parts: Sequence[Parses]) -> Parses:
        """The parses of documents that were parsed in parts, in order."""
        tokens = [one for part in parts for one in part.tokens]
        arcs = [one for part in parts for one in part.arcs]
        probabilities = [one for part in parts for one in part.probabilities or ()]
        tags = [one for part in parts for one in part.tags or ()]
        return cls(tokens, arcs, probabilities or None, tags or None)

    def one(self, i: int) -> Parses:
        """The parse of the i-th document alone."""
        probabilities = None if self.probabilities is None else [self.probabilities[i]]
        tags = None if self.tags is None else [self.tags[i]]
        return Parses([self.tokens[i]], [self.arcs[i]], probabilities, tags)

    def write(
        self, docs: Sequence[Doc], labels: Sequence[str], temperatures: tuple[float, float]
    ) -> None:
        """Write the parses to their documents.

        Args:
            docs: The documents.
            labels: The parser's labels.
            temperatures: Of the confidences in the head, and in head and label.
        """
        hashes: dict[int, numpy.ndarray] = {}
        for doc, tokens, arcs in zip(docs, self.tokens, self.arcs, strict=True):
            if not len(doc):
                continue
            strings = doc.vocab.strings
            if id(strings) not in hashes:  # a sourced component meets documents of other vocabs
                hashes[id(strings)] = numpy.asarray(
                    [strings.add(label) for label in (*labels, ROOT_LABEL, SPACE_LABEL)],
                    dtype="uint64",
                )
            known = hashes[id(strings)]
            write_parse(doc, tokens, *(arcs or NO_ARCS), known, int(known[-2]), int(known[-1]))
        if self.probabilities is None:
            for doc in docs:
                doc.user_data.pop(KEY, None)  # of another tree
            return
        for doc, tokens, probabilities in zip(docs, self.tokens, self.probabilities, strict=True):
            write_confidences(doc, tokens, probabilities, temperatures)


class Tree(NamedTuple):
    """A tree over the tokens of a document, and its score. A root is its own head."""

    score: float
    heads: list[int]
    labels: list[str]
    sent_starts: list[bool]

    @classmethod
    def of(cls, doc: Doc, score: float) -> Tree:
        """The tree of a parsed document."""
        return cls(
            score,
            [token.head.i for token in doc],
            [token.dep_ for token in doc],
            [bool(token.is_sent_start) for token in doc],
        )


def unparsed_copy(doc: Doc) -> Doc:
    """The tokens of a document with its preset sentence starts."""
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        sent_starts=preset_starts(doc).tolist(),
    )
