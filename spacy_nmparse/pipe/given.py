"""Known trees: heads, labels and starts that documents have before parsing, for `keep_heads`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.pipe.annotations import SPACE_LABEL, Arcs
from spacy_nmparse.pipe.doc_io import gold_parse
from spacy_nmparse.pipe.gold import (
    GoldReader,
    Parse,
    known_starts,
    of_words,
    projective_parse,
    spanning,
)
from spacy_nmparse.pipe.labels import LabelSet
from spacy_nmparse.pipe.roots import name_roots
from spacy_nmparse.pipe.words import Words
from spacy_nmparse.systems import Gold
from spacy_nmparse.systems.gold import find_cycle

SHOWN = 8  # words around the one that a message is about


class Given(NamedTuple):
    """The known part of a document's tree.

    Attributes:
        known: Which of the words have a head.
        parse: Heads and labels.
        gold: The tree that the search is held to: in a projective system crossing arcs are lifted.
    """

    known: list[int]
    parse: Parse
    gold: Gold


class Fault(NamedTuple):
    """Why heads are no part of a tree: what is wrong with a word's."""

    word: int
    text: str


def find_fault(heads: Sequence[int | None], presets: Sequence[int]) -> Fault | None:
    """Why known heads are no part of trees, of which each has one root and is a sentence.

    Args:
        heads: Of each word its head's number, of a root its own; None: unknown.
        presets: 1 where a sentence must start, -1 where none may, 0 free.

    Returns:
        The first fault; None: they are part of such trees.
    """
    cycle = find_cycle([None if head == word else head for word, head in enumerate(heads)])
    if cycle:
        return Fault(cycle[0], "its head is below it")
    spans = spanning(heads)
    root = None
    for word, head in enumerate(heads):
        if spans[word] and presets[word] == 1:
            across = next(
                one
                for one, above in enumerate(heads)
                if above is not None and min(one, above) < word <= max(one, above)
            )
            return Fault(across, "a sentence start that is set lies between")
        if not spans[word] and presets[word] != -1:
            root = None  # a sentence may start here
        if head == word:
            if root is not None:
                return Fault(word, "its sentence has another root")
            root = word
    return None


class GivenTrees:
    """The known trees of documents. A word with a label has a head (``token.has_head()``).

    Args:
        words: The words of the documents.
        reader: Reads trees as the parser learns them.
        labels: The parser's labels.
        projective: Whether the parser's system makes no crossing arcs.

    Attributes:
        golds: For each document that has words the tree that the search is held to, or None.
        constraints: Those of the words; -1, too, where a given arc leads across.
        names: The parser's labels and, behind them, given ones that it does not have.

    Raises:
        ValueError: the heads of a document are no part of trees: they form a cycle, lead across a
            sentence start that is set, or a sentence has two roots.
    """

    def __init__(
        self, words: Words, reader: GoldReader, labels: LabelSet, projective: bool
    ) -> None:
        self._labels = labels
        self._given: list[Given | None] = []
        self.constraints = words.constraints.copy()
        first = 0
        for doc, (tokens, presets) in zip(words.docs, words.by_document(), strict=True):
            if not len(tokens):
                continue
            if not doc.has_annotation("DEP"):
                self._given.append(None)
                first += len(tokens)
                continue
            example = Example(doc, doc)
            heads, names, starts = gold_parse(example)
            heads, names, _ = of_words(heads, name_roots(example, heads, names), starts, tokens)
            if fault := find_fault(heads, presets.tolist()):
                raise ValueError(_message(doc, int(tokens[fault.word]), fault.text))
            parse = Parse(heads, names, known_starts(heads))
            gold = reader.gold(projective_parse(parse) if projective else parse, presets)
            known = [word for word, head in enumerate(heads) if head is not None]
            self._given.append(Given(known, parse, gold))
            inside = numpy.asarray(spanning(heads)) > 0
            self.constraints[first : first + len(tokens)][inside] = -1
            first += len(tokens)
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
        """
        found = self._labels.lowered(arcs, numpy.asarray([len(arcs.heads)]))
        one = self._given[number]
        if one is None:
            return found
        heads, labels, given = found.heads.tolist(), found.labels.tolist(), one.parse.heads
        for word in one.known:
            if heads[word] != given[word]:
                _move(heads, labels, given, word)
            labels[word] = self._numbers[one.parse.labels[word] or SPACE_LABEL]
        return Arcs(numpy.asarray(heads, "int32"), numpy.asarray(labels, "int32"), arcs.starts)

    def put_back_all(
        self, arcs: Arcs, lengths: list[int], probabilities: numpy.ndarray | None
    ) -> tuple[Arcs, numpy.ndarray]:
        """The same for all documents that have words, of these lengths; and which words are given,
        bool (words,). What is given is sure: its probabilities become 1."""
        known = numpy.zeros(len(arcs.heads), dtype="bool")
        parts, first = [], 0
        for number, length in enumerate(lengths):
            part = slice(first, first + length)
            parts.append(self.put_back(number, Arcs(*(array[part] for array in arcs))))
            one = self._given[number]
            if one is not None:
                known[part][one.known] = True
            first += length
        if probabilities is not None:
            probabilities[:, known] = 1
        return Arcs(*map(numpy.concatenate, zip(*parts, strict=True))), known


def _message(doc: Doc, token: int, why: str) -> str:
    around = doc[max(0, token - SHOWN) : token + SHOWN + 1].text
    return (
        f"The head of {doc[token].text!r} in {around!r} cannot be kept: {why}. Correct it, or take "
        f"it out."
    )


def _move(heads: list[int], labels: list[int], given: list[int | None], word: int) -> None:
    """Hang a word of a tree, which may be its root, on its given head. Where that is below the
    word, the nearest word above it whose arc is not given takes the word's place. A given root gets
    the root that the search has found."""
    head = given[word]
    assert head is not None
    if head == word:
        above = word
        while heads[above] != above:
            above = heads[above]
        heads[above], labels[above] = word, labels[word]
        heads[word] = word
        return
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
