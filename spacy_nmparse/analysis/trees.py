"""The trees of treebanks, without documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import spacy
from spacy.tokens import Doc, Token

from spacy_nmparse.pipe.roots import (
    ROOT_LABEL,
    TREEBANK_ROOT,
    root_label,
    root_name,
    short_name,
)
from spacy_nmparse.systems.gold import find_cycle
from spacy_nmparse.ud.conllu import DEPREL, EMPTY, FORM, HEAD, UPOS, Sentence, read_rows
from spacy_nmparse.ud.corpus import check_file, read_spacy
from spacy_nmparse.ud.treebank import refuse_cycles


@dataclass
class Tree:
    """A tree and its words. A root is its own head; None: not annotated.

    spaces: whether each word is followed by a space.
    """

    words: list[str]
    heads: list[int | None]
    labels: list[str | None]
    spaces: list[bool] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)

    @property
    def fault(self) -> str | None:
        """Why this is not a whole tree: "unknown heads", "cycle" or None."""
        if None in self.heads:
            return "unknown heads"
        heads = [None if head == word else head for word, head in enumerate(self.heads)]
        return "cycle" if find_cycle(heads) else None

    @property
    def n_roots(self) -> int:
        """How many words are roots."""
        return sum(head == word for word, head in enumerate(self.heads))


def read_sentences(path: Path) -> Iterator[Tree]:
    """The trees of a .spacy or CoNLL-U file, without whitespace tokens.

    Raises:
        FileNotFoundError: no such file.
        ValueError: it is of neither kind, damaged, or has no sentence; or CoNLL-U with a cycle.
    """
    check_file(path)
    found = False
    if path.suffix == ".spacy":
        for doc in read_spacy(path, spacy.blank("xx").vocab):  # it knows spaces
            for tree in trees_of(doc):
                found = True
                yield tree
    else:
        for sentence in read_rows(path):
            refuse_cycles(sentence, str(path))
            found = True
            yield tree_of(sentence)
    if not found:
        raise ValueError(f"{path} holds no sentence.")


def trees_of(doc: Doc) -> Iterator[Tree]:
    """The trees of a document; the whole, where no boundary is known."""
    for span in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
        tokens = [token for token in span if not token.is_space]
        number = {token.i: word for word, token in enumerate(tokens)}
        if tokens:
            yield Tree(
                [token.text for token in tokens],
                [number.get(token.head.i) if token.dep else None for token in tokens],
                [_label(token) for token in tokens],
                [bool(token.whitespace_) for token in tokens],
                [token.pos_ for token in tokens],
            )


def _label(token: Token) -> str | None:
    """The label of a token; of a root as ``tree_of`` has it."""
    if not token.dep or token.head.i != token.i:
        return token.dep_ or None
    return short_name(root_name(root_label(token)))


def tree_of(sentence: Sentence) -> Tree:
    """The tree of a sentence of CoNLL-U, without multiword tokens and empty nodes. The label
    ``root`` becomes ``ROOT``; ``_`` is an unknown head."""
    words = sentence.words
    heads = [
        None if row[HEAD] == EMPTY else word if row[HEAD] == "0" else int(row[HEAD]) - 1
        for word, row in enumerate(words)
    ]
    labels = [None if row[DEPREL] == EMPTY else row[DEPREL] for row in words]
    return Tree(
        [row[FORM] for row in words],
        heads,
        [
            ROOT_LABEL if label == TREEBANK_ROOT and head == word else label
            for word, (label, head) in enumerate(zip(labels, heads, strict=True))
        ],
        sentence.spaces,
        ["" if row[UPOS] == EMPTY else row[UPOS] for row in words],
    )


def whole_trees(trees: Iterable[Tree]) -> list[list[int]]:
    """The heads of those that are whole trees."""
    return [
        [head for head in tree.heads if head is not None] for tree in trees if tree.fault is None
    ]
