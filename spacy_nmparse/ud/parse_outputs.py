"""Where parses go: CoNLL-U, JSON and .spacy files, each written whole or not at all."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from spacy.tokens import Doc, DocBin

from spacy_nmparse.pipe.confidence import confidences
from spacy_nmparse.pipe.files import NEW
from spacy_nmparse.ud.conllu_docs import conllu_sentences
from spacy_nmparse.ud.extensions import ud_words

CONLLU, JSON, SPACY = "conllu", "json", "spacy"
#: Formats, and how the names of their files end.
FORMATS = {CONLLU: ".conllu", JSON: ".jsonl", SPACY: ".spacy"}


class Writer:
    """Writes documents to a file that is open.

    Attributes:
        n_sents: How many sentences were written.
    """

    def __init__(self, file: IO[bytes], form: str, confidence: bool) -> None:
        self.n_sents = 0
        self._file = file
        self._form = form
        self._confidence = confidence
        self._store = DocBin(store_user_data=True)

    def write(self, doc: Doc) -> None:
        """Write a document. Those of a .spacy file are held until ``finish``."""
        if self._form == CONLLU:
            first = self.n_sents + 1
            for text in conllu_sentences(doc, confidence=self._confidence, first=first):
                self._file.write(text.encode())
                self.n_sents += 1
            return
        self.n_sents += len(list(doc.sents)) if doc.has_annotation("SENT_START") else 1
        if self._form == JSON:
            line = json.dumps(doc_to_json(doc, self._confidence), ensure_ascii=False)
            self._file.write(f"{line}\n".encode())
        else:
            self._store.add(doc)

    def finish(self) -> None:
        """Write what is left."""
        if self._form == SPACY:
            self._file.write(self._store.to_bytes())
        self._file.flush()


def doc_to_json(doc: Doc, confidence: bool = False) -> dict[str, Any]:
    """A document as ``Doc.to_json`` gives it; with the ``words`` of multiword tokens and, where
    they are wanted and known, ``head_confidence`` and ``dep_confidence``.

    Args:
        doc: The document.
        confidence: Whether confidences are wanted.
    """
    found: dict[str, Any] = doc.to_json()
    sure = confidences(doc) if confidence else None
    for token, entry in zip(doc, found["tokens"], strict=True):
        words = ud_words(token)
        if words:
            entry["words"] = [word._asdict() for word in words]
        if sure is not None:
            head, dep = sure[:, token.i].tolist()
            entry.update(head_confidence=round(head, 3), dep_confidence=round(dep, 3))
    return found


@contextmanager
def open_writer(path: Path | None, form: str, confidence: bool = False) -> Iterator[Writer]:
    """Open a file for documents. It takes its place when all of them are written; if that fails, or
    is interrupted, what was there before stays.

    Args:
        path: The file; its folder is made if needed. None: standard output, written as it comes.
        form: One of FORMATS.
        confidence: Whether confidences are written.

    Raises:
        OSError: If it cannot be written.
    """
    if path is None:
        writer = Writer(sys.stdout.buffer, form, confidence)
        yield writer
        writer.finish()
        return
    new = path.with_name(path.name + NEW)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.unlink(missing_ok=True)  # of a killed process; a link would lead elsewhere
        opened = new.open("xb")
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror}.") from error
    try:
        with opened as file:
            writer = Writer(file, form, confidence)
            yield writer
            writer.finish()
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
