"""Treebanks: sentences and gold documents from .spacy and CoNLL-U files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import spacy
import srsly
from spacy.tokens import Doc, DocBin, Token
from spacy.vocab import Vocab

from spacy_nmparse.pipe.roots import (
    ROOT_LABEL,
    TREEBANK_ROOT,
    root_label,
    root_name,
    short_name,
)
from spacy_nmparse.systems.projective import check_acyclic
from spacy_nmparse.ud.conllu import DEPREL, EMPTY, FORM, HEAD, UPOS, Sentence, read_rows
from spacy_nmparse.ud.conllu_docs import Merges, conllu_to_docs
from spacy_nmparse.ud.treebank import refuse_cycles

CONLLU = (".conllu", ".conllup", ".conll", ".txt")
AT_ONCE = 500  # documents of a .spacy file
NIL, ARRAY = b"\xc0", b"\xdd"  # of msgpack


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
        try:
            check_acyclic(self.heads)
        except ValueError:
            return "cycle"
        return None

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


def gold_docs(
    path: Path, vocab: Vocab, *, merge: bool | Merges = False, n_sents: int = 0
) -> list[Doc]:
    """The documents of a .spacy or CoNLL-U file that have tokens.

    Args:
        path: the file.
        vocab: the documents' vocabulary.
        merge: of CoNLL-U, like the next one; as of ``conllu_to_docs``.
        n_sents: sentences of a document.

    Raises:
        FileNotFoundError: no such file.
        ValueError: it is of neither kind, damaged, or has no document; or CoNLL-U with a cycle.
    """
    check_file(path)
    if path.suffix == ".spacy":
        docs = [doc for doc in read_spacy(path, vocab) if len(doc)]
    else:
        read = conllu_to_docs(path, vocab, merge=merge, n_sents=n_sents, check=refuse_cycles)
        docs = list(read)
    if not docs:
        raise ValueError(f"{path} holds no document.")
    return docs


def read_docs(path: Path, vocab: Vocab) -> list[Doc]:
    """The gold documents of a .spacy file, or of a CoNLL-U file, one for each sentence.

    Errors are those of ``gold_docs``; one without trees is a ValueError, too.
    """
    docs = gold_docs(path, vocab, n_sents=1)
    if not any(doc.has_annotation("DEP") for doc in docs):
        raise ValueError(f"{path} has no trees: its documents have no heads and labels (DEP).")
    return docs


def check_file(path: Path) -> None:
    """Raise an error that names what is wrong with a corpus' path."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name one of its .conllu or .spacy files.")
    check_exists(path)
    if path.suffix not in (".spacy", *CONLLU):
        raise ValueError(
            f"{path} is neither a .spacy nor a CoNLL-U file (.conllu): convert it with "
            f"`python -m spacy convert`."
        )


def check_exists(path: Path) -> None:
    """Raise a FileNotFoundError where there is no file."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")


def read_spacy(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """The documents of a .spacy file. spaCy looks for plugins before it decodes anything, so the
    user data of many documents are decoded at once, as one array of msgpack."""
    store = open_spacy(path)
    for string in store.strings:
        if string not in vocab.strings:
            vocab[string]
    store.strings = set()
    packed, store.user_data = store.user_data, []
    data: list[dict[Any, Any] | None] = []
    for i, doc in enumerate(store.get_docs(vocab)):
        if i % AT_ONCE == 0:
            some = [NIL if one is None else one for one in packed[i : i + AT_ONCE]]
            head = ARRAY + len(some).to_bytes(4, "big")
            data = [*reversed(srsly.msgpack_loads(head + b"".join(some), use_list=False))]
        doc.user_data.update((data.pop() if data else None) or {})
        yield doc


def open_spacy(path: Path) -> DocBin:
    """A .spacy file; ValueError, if it is none."""
    try:
        return DocBin().from_disk(path)
    except Exception as error:
        raise ValueError(
            f"{path} cannot be read as a .spacy file ({type(error).__name__}: {error}): "
            f"is it damaged, or was it written by another program?"
        ) from error


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
