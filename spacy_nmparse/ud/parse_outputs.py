"""Parses as CoNLL-U, JSON and .spacy files, made of parts."""

from __future__ import annotations

import json
from collections.abc import Set
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import IO, Any

from spacy.tokens import Doc, DocBin

from spacy_nmparse.pipe.confidence import confidences
from spacy_nmparse.pipe.known import is_known
from spacy_nmparse.ud.conllu import Commented
from spacy_nmparse.ud.docs_conllu import SentenceIds, doc_sentences
from spacy_nmparse.ud.extensions import ud_words, value_of
from spacy_nmparse.ud.join_docs import join_docs

CONLLU, JSON, SPACY = "conllu", "json", "spacy"
#: Formats, and how the names of their files end.
FORMATS = {CONLLU: ".conllu", JSON: ".jsonl", SPACY: ".spacy"}
PLUS = ".conllup"  # CoNLL-U with more columns
ERROR = "spacy_nmparse.parse_error"  # in ``doc.user_data``: why there is no parse
FAILED = "# parse_error = "


@dataclass
class Written:
    """Some documents as they go into an output.

    Attributes:
        n_sents: How many sentences they have.
        texts: Bytes. Of CoNLL-U: what stands between numbers of sentences.
        numbers: Those numbers, counted from 0.
        store: The content of a DocBin.
    """

    n_sents: int = 0
    texts: list[bytes] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    store: dict[str, Any] | None = None


class Writer:
    """Writes documents, some of those of an output.

    Args:
        form: One of FORMATS.
        confidence: Whether confidences are written.
    """

    def __init__(self, form: str, confidence: bool) -> None:
        self._form = form
        self._confidence = confidence
        self._done = Written()
        self._texts: list[str] = []  # since the last number
        self._store = DocBin(store_user_data=True)
        self._parts: list[Doc] = []  # of a document that may go on

    def write(self, doc: Doc, continues: bool = False) -> None:
        """Write a document. continues: whether it is the next part of the one before."""
        if self._form == CONLLU:
            for sentence in doc_sentences(doc, confidence=self._confidence):
                mark_failed(sentence, doc)
                before, after = sentence.around_id()
                self._texts.append(before)
                if after:  # the number of the sentence is not known yet
                    self._done.texts.append("".join(self._texts).encode())
                    self._done.numbers.append(self._done.n_sents)
                    self._texts = [after]
                self._done.n_sents += 1
            return
        if not continues:
            self._finish()
        self._parts.append(doc)

    def _finish(self) -> None:
        """Write the document whose parts are known."""
        if not self._parts:
            return
        doc = join_docs(self._parts)
        self._parts = []
        self._done.n_sents += len(list(doc.sents)) if doc.has_annotation("SENT_START") else 1
        if self._form == JSON:
            line = json.dumps(doc_to_json(doc, self._confidence), ensure_ascii=False)
            self._texts.append(f"{line}\n")
        else:
            self._store.add(doc)

    def written(self) -> Written:
        """What was written."""
        self._finish()
        self._done.texts.append("".join(self._texts).encode())
        if self._form == SPACY:
            self._done.store = vars(self._store)  # as a DocBin, it would be compressed
        return self._done


class Joined:
    """Puts what writers have written into a file, in order.

    Args:
        file: The open file.
        form: One of FORMATS.
        given: The ``sent_id`` that sentences of the input have; those without get others.
    """

    def __init__(self, file: IO[bytes], form: str, given: Set[str] = frozenset()) -> None:
        self._ids = SentenceIds(given)
        self._file = file
        self._form = form
        self._store = DocBin(store_user_data=True)

    def add(self, written: Written) -> None:
        """Put documents behind the others. Those of a .spacy file are held until ``finish``."""
        done = 0
        for text, number in zip_longest(written.texts, written.numbers):
            self._file.write(text)
            if number is not None:
                self._ids.skip(number - done)
                self._file.write(self._ids.next().encode())
                done = number + 1
        self._ids.skip(written.n_sents - done)
        if written.store is not None:
            store = DocBin()
            vars(store).update(written.store)
            self._store.merge(store)

    def finish(self) -> None:
        """Write what is left."""
        if self._form == SPACY:
            self._file.write(self._store.to_bytes())
        self._file.flush()


def mark_failed(sentence: Commented, doc: Doc) -> None:
    """Say in a comment that there is no parse of a document, and why."""
    kept = [comment for comment in sentence.comments if not comment.startswith(FAILED)]
    error = doc.user_data.get(ERROR)
    sentence.comments[:] = [*kept, FAILED + " ".join(error.split())] if error else kept


def doc_to_json(doc: Doc, confidence: bool = False) -> dict[str, Any]:
    """A document as ``Doc.to_json`` gives it; with its ``id``, if ``# newdoc`` says one; with the
    ``words`` of multiword tokens, ``known_head`` where it was kept and, where they are wanted and
    known, ``head_confidence`` and ``dep_confidence``; with ``parse_error`` where it could not be
    parsed.

    Args:
        doc: The document.
        confidence: Whether confidences are wanted.
    """
    comments = (value_of(doc[0], "ud_comments") if len(doc) else None) or []
    doc_id = Commented(comments).value("newdoc id")
    found: dict[str, Any] = {**({"id": doc_id} if doc_id else {}), **doc.to_json()}
    if error := doc.user_data.get(ERROR):
        found["parse_error"] = error
    sure = confidences(doc) if confidence else None
    for token, entry in zip(doc, found["tokens"], strict=True):
        words = ud_words(token)
        if words:
            entry["words"] = [word._asdict() for word in words]
        if is_known(token):
            entry["known_head"] = True
        if sure is not None:
            head, dep = sure[:, token.i].tolist()
            entry.update(head_confidence=round(head, 3), dep_confidence=round(dep, 3))
    return found
