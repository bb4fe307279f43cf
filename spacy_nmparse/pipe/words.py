"""The words of documents: what is parsed of them, and what a model gets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy
from spacy.tokens import Doc
from thinc.api import Model

from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.scorers.tags import GoldTags

#: Names of the layers that hear spaCy's tok2vec, and the transformer of spacy-transformers.
TOK2VEC, TRANSFORMER = "tok2vec-listener", "transformer-listener"
#: The extension of documents that holds a transformer's output.
OUTPUT = "trf_data"


@dataclass(frozen=True)
class Words:
    """The words of some documents, one after the other.

    Attributes:
        docs: The documents.
        tokens: int32 (words,): the tokens that are words, numbered within their document.
        constraints: int8 (words,): 1 where a sentence must start, -1 where none may, 0 free.
        ends: int32 (documents,): where the words of each document end.
    """

    docs: list[Doc]
    tokens: numpy.ndarray
    constraints: numpy.ndarray
    ends: numpy.ndarray

    @classmethod
    def of(cls, docs: Iterable[Doc]) -> Words:
        """The words of documents."""
        docs = list(docs)
        return cls(docs, *parsed_tokens(docs))

    @property
    def lengths(self) -> list[int]:
        """How many words each document has, without those that have none."""
        lengths = numpy.diff(self.ends, prepend=0)
        return lengths[lengths > 0].tolist()

    def without_vectors(self, model: Model) -> Words:
        """The same words, where a model's listeners are to take zeros: these fail if a tensor is
        None (such documents are copied), and if transformers have not made their extension."""
        if not Doc.has_extension(OUTPUT) and any(one.name != TOK2VEC for one in listeners(model)):
            Doc.set_extension(OUTPUT, default=None)
        docs = list(self.docs)
        for i, doc in enumerate(docs):
            if doc.tensor is None:
                docs[i] = doc.copy()
                docs[i].tensor = numpy.zeros(0, dtype="float32")
        return replace(self, docs=docs)

    def by_document(self) -> list[tuple[numpy.ndarray, numpy.ndarray]]:
        """Tokens and constraints of each document."""
        ends = self.ends.tolist()
        parts = [slice(first, last) for first, last in zip([0, *ends], ends, strict=False)]
        return [(self.tokens[part], self.constraints[part]) for part in parts]

    def scorer_input(self, tags: GoldTags | None = None, wants_tags: bool = False) -> ScorerInput:
        """The input of a model.

        Args:
            tags: What the words' tags are, where they are learned.
            wants_tags: Whether tags are to be scored.
        """
        starts = self.constraints == 1
        starts[:1] = True
        starts[self.ends[self.ends < len(starts)]] = True
        lengths = numpy.diff(numpy.append(numpy.nonzero(starts)[0], len(starts)))
        lengths = lengths.astype("int32")
        return ScorerInput(self.docs, self._rows(), lengths, tags, wants_tags)

    def _rows(self) -> numpy.ndarray | None:
        """Rows of the words among all tokens of the documents; None: all tokens are words."""
        sizes = numpy.asarray([len(doc) for doc in self.docs], dtype="int32")
        if sizes.sum() == len(self.tokens):
            return None
        firsts = numpy.cumsum(sizes, dtype="int32") - sizes
        return self.tokens + numpy.repeat(firsts, numpy.diff(self.ends, prepend=0))


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


def listeners(model: Model) -> list[Model]:
    """The layers of a model that hear the token vectors of another component: those of spaCy, of
    spacy-transformers and of spacy-curated-transformers."""
    return [
        node
        for node in model.walk()
        if node.name in (TOK2VEC, TRANSFORMER) or "_TRANSFORMER_LISTENER" in node.attrs
    ]


def lacks_token_vectors(docs: Sequence[Doc], model: Model) -> bool:
    """Whether the model shares token vectors that some of the documents do not have: the component
    that makes these has not processed them."""
    heard = listeners(model)
    return any(len(doc) and not has_vectors(doc, one) for one in heard for doc in docs)


def has_vectors(doc: Doc, listener: Model) -> bool:
    """Whether a document has what a listener hears."""
    if listener.name == TOK2VEC:
        return doc.tensor is not None and doc.tensor.size > 0
    return Doc.has_extension(OUTPUT) and doc._.get(OUTPUT) is not None
