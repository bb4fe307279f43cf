"""The words of documents: what is parsed of them, and what a model gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy
from spacy.tokens import Doc
from thinc.api import Model

from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.scorers.tagging import GoldTags


@dataclass(frozen=True)
class Words:
    """The words of some documents.

    Attributes:
        docs: The documents.
        tokens: Of each, int32 (words,): the tokens that are words.
        presets: Of each, int8 (words,): 1 where a sentence must start, -1 where none may, 0 free.
    """

    docs: list[Doc]
    tokens: list[numpy.ndarray]
    presets: list[numpy.ndarray]

    @classmethod
    def of(cls, docs: Iterable[Doc]) -> Words:
        """The words of documents."""
        docs = list(docs)
        found = [parsed_tokens(doc) for doc in docs]
        return cls(docs, [tokens for tokens, _ in found], [presets for _, presets in found])

    @property
    def lengths(self) -> list[int]:
        """How many words each document has, without those that have none."""
        return [len(tokens) for tokens in self.tokens if len(tokens)]

    @property
    def constraints(self) -> numpy.ndarray:
        """``presets`` of all documents, one after the other."""
        return numpy.concatenate(self.presets)

    def scorer_input(
        self, tags: GoldTags | None = None, wants_tags: bool = False, rounded: bool = False
    ) -> ScorerInput:
        """What a model gets.

        Args:
            tags: What the words' tags are, where they are learned.
            wants_tags: Whether tags are to be scored.
            rounded: Whether matrix products may round numbers to bfloat16.
        """
        ends = numpy.cumsum([0, *map(len, self.tokens)])
        starts = self.constraints == 1
        starts[ends[:-1][ends[:-1] < len(starts)]] = True
        lengths = numpy.diff(numpy.append(numpy.nonzero(starts)[0], len(starts)))
        lengths = lengths.astype("int32")
        return ScorerInput(self.docs, self._rows(), lengths, tags, wants_tags, rounded)

    def _rows(self) -> numpy.ndarray | None:
        """Rows of the words among all tokens of the documents; None: all tokens are words."""
        pairs = list(zip(self.docs, self.tokens, strict=True))
        if all(len(doc) == len(tokens) for doc, tokens in pairs):
            return None
        rows = []
        start = 0
        for doc, tokens in pairs:
            rows.append(tokens + start)
            start += len(doc)
        return numpy.concatenate(rows)


@dataclass(frozen=True)
class ScoredWords:
    """Words with the scores of a model, ready for search; documents without a word are left out.

    Attributes:
        scorer: The scores.
        lengths: How many words each document has.
        constraints: int8 (words,): ``Words.constraints``.
        tags: float32 (words, values of all attributes): the scores of tags; None: they are not
            wanted.
    """

    scorer: Scorer
    lengths: list[int]
    constraints: numpy.ndarray
    tags: numpy.ndarray | None = None


def even_parts(docs: list[Doc], n: int) -> list[list[Doc]]:
    """Documents in at most n runs of about as many tokens; one run at least."""
    size = sum(map(len, docs)) / n
    parts: list[list[Doc]] = [[]]
    seen = 0
    for doc in docs:
        if parts[-1] and seen + len(doc) / 2 > size * len(parts):
            parts.append([])
        parts[-1].append(doc)
        seen += len(doc)
    return parts


def lacks_token_vectors(docs: Sequence[Doc], model: Model) -> bool:
    """Whether the model shares a tok2vec that has not processed some of the documents."""
    return any(len(doc) and not doc.tensor.size for doc in docs) and any(
        node.name == "tok2vec-listener" for node in model.walk()
    )
