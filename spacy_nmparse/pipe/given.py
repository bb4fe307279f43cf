"""What documents have of their trees before they are parsed, for a parser that keeps it."""

from __future__ import annotations

from typing import NamedTuple

import numpy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.pipe.annotations import SPACE_LABEL, Arcs
from spacy_nmparse.pipe.gold import GoldReader, Parse, projective_parse, word_parse
from spacy_nmparse.pipe.labels import LabelSet
from spacy_nmparse.pipe.words import Words
from spacy_nmparse.systems import Gold


class Given(NamedTuple):
    """What a document has of its tree.

    Attributes:
        doc: The document.
        tokens: int32 (words,): its tokens that are words.
        known: Which of the words have a head.
        parse: Heads and labels.
        gold: The tree that the search is held to: in a projective system crossing arcs are lifted.
    """

    doc: Doc
    tokens: numpy.ndarray
    known: list[int]
    parse: Parse
    gold: Gold


class GivenTrees:
    """What documents have of their trees. A word with a label has a head (``token.has_head()``).

    Args:
        words: The words of the documents.
        reader: Reads trees as the parser learns them.
        labels: The parser's labels.
        projective: Whether the parser's system makes no crossing arcs.

    Attributes:
        golds: For each document that has words the tree that the search is held to, or None.
        names: The parser's labels and, behind them, given ones that it does not have.

    Raises:
        ValueError: the heads of a document form a cycle.
    """

    def __init__(
        self, words: Words, reader: GoldReader, labels: LabelSet, projective: bool
    ) -> None:
        self._labels = labels
        self._given: list[Given | None] = []
        for doc, (tokens, presets) in zip(words.docs, words.by_document(), strict=True):
            if not len(tokens):
                continue
            if not doc.has_annotation("DEP"):
                self._given.append(None)
                continue
            try:
                parse = word_parse(Example(doc, doc), tokens)
                gold = reader.gold(projective_parse(parse) if projective else parse, presets)
            except ValueError as error:
                raise ValueError(f"The heads of {doc.text!r:.80} cannot be kept: {error}") from None
            known = [word for word, head in enumerate(parse.heads) if head is not None]
            self._given.append(Given(doc, tokens, known, parse, gold))
        self.golds = [None if one is None else one.gold for one in self._given]
        every = {label for one in self._given if one for label in one.parse.labels if label}
        self.names = [*labels.names, *sorted(every - {*labels.names})]
        self._numbers = {name: number for number, name in enumerate(self.names)}

    def put_back(self, number: int, arcs: Arcs) -> Arcs:
        """The arcs of a document with the given ones as they were, all others lowered, and with
        labels that are numbered as in ``names``.

        Args:
            number: Of the document among those that have words.
            arcs: What a search that was held to ``golds`` has found. Given arcs that its system
                cannot make are not among them.

        Raises:
            ValueError: the given arcs are not part of a tree in which sentences have one root and
                start where it is set.
        """
        found = self._labels.lowered(arcs, numpy.asarray([len(arcs.heads)]))
        one = self._given[number]
        if one is None:
            return found
        heads, labels = found.heads.tolist(), found.labels.tolist()
        given, sentence = one.parse.heads, numpy.cumsum(arcs.starts)
        for word in one.known:
            head = given[word]
            if sentence[word] != sentence[head] or (head == word and heads[word] != word):
                raise ValueError(
                    f"The head of {one.doc[int(one.tokens[word])].text!r} in {one.doc.text!r:.80} "
                    f"cannot be kept: a sentence start that is set lies between, or the sentence "
                    f"has another root. Correct it, or take it out."
                )
            if heads[word] != head:
                _move(heads, labels, given, word)
            labels[word] = self._numbers[one.parse.labels[word] or SPACE_LABEL]
        return Arcs(numpy.asarray(heads, "int32"), numpy.asarray(labels, "int32"), arcs.starts)

    def put_back_all(
        self, arcs: Arcs, lengths: list[int], probabilities: numpy.ndarray | None
    ) -> Arcs:
        """The same for all documents that have words, of these lengths. What is given is sure: its
        probabilities become 1."""
        parts, first = [], 0
        for number, length in enumerate(lengths):
            part = slice(first, first + length)
            parts.append(self.put_back(number, Arcs(*(array[part] for array in arcs))))
            one = self._given[number]
            if probabilities is not None and one is not None:
                probabilities[:, part][:, one.known] = 1
            first += length
        return Arcs(*map(numpy.concatenate, zip(*parts, strict=True)))


def _move(heads: list[int], labels: list[int], given: list[int | None], word: int) -> None:
    """Hang a word of a tree, which may be its root, on its given head. Where that is below the
    word, the nearest word above it whose arc is not given takes the word's place."""
    head = given[word]
    assert head is not None
    above = head
    while above != word and heads[above] != above:
        above = heads[above]
    if above == word:
        above = head
        while heads[above] == given[above]:
            above = heads[above]
        heads[above] = above if heads[word] == word else heads[word]
        labels[above] = labels[word]
    heads[word] = head
