"""Treebanks: sentences and gold documents from .spacy and CoNLL-U files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import srsly
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_nmparse.ud.conllu_docs import Merges, conllu_to_docs
from spacy_nmparse.ud.treebank import refuse_cycles

CONLLU = (".conllu", ".conllup", ".conll", ".txt")
AT_ONCE = 500  # documents of a .spacy file
NIL, ARRAY = b"\xc0", b"\xdd"  # of msgpack


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


def read_docs(path: Path, vocab: Vocab, merge: bool | Merges = False) -> list[Doc]:
    """The gold documents of a .spacy file, or of a CoNLL-U file, one for each sentence.

    Arguments and errors are those of ``gold_docs``; one without trees is a ValueError, too.
    """
    docs = gold_docs(path, vocab, merge=merge, n_sents=1)
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
