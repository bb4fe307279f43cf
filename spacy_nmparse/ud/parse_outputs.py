"""Outputs: CoNLL-U, JSON and .spacy files, put together of parsed pieces."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

from spacy.tokens import Doc, DocBin

from spacy_nmparse.pipe.confidence import confidences
from spacy_nmparse.pipe.files import new_file
from spacy_nmparse.pipe.known import is_known
from spacy_nmparse.ud.conllu import Commented
from spacy_nmparse.ud.docs_conllu import SentenceIds, doc_sentences
from spacy_nmparse.ud.extensions import ud_words, value_of
from spacy_nmparse.ud.join_docs import join_docs

CONLLU, JSON, SPACY = "conllu", "json", "spacy"
#: Formats, and how the names of their files end.
FORMATS = {CONLLU: ".conllu", JSON: ".jsonl", SPACY: ".spacy"}
ERROR = "spacy_nmparse.parse_error"  # in ``doc.user_data``: why there is no parse
FAILED = "# parse_error = "


@dataclass
class Counts:
    """How much has been parsed."""

    documents: int = 0
    sentences: int = 0
    words: int = 0
    failed: int = 0  # documents
    other_texts: list[int] = field(default_factory=list)  # lines whose ``# text`` is written anew

    def add(self, other: Counts) -> None:
        """Count what has been parsed besides."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class Part:
    """A parsed piece of a file, as it goes into an output.

    Attributes:
        form: One of FORMATS.
        number: That of its file among those that are parsed together.
        n_bytes: Bytes of the file.
        counts: What was parsed.
        texts: Bytes. Of CoNLL-U: what stands between numbers of sentences.
        numbers: Those numbers, counted from 0.
        store: The content of a DocBin.
        error: Why there are no parses.
        ids: The ids that sentences of the file have; those without get others.
    """

    form: str
    number: int = 0
    n_bytes: int = 0
    counts: Counts = field(default_factory=Counts)
    texts: list[bytes] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    store: dict[str, Any] = field(default_factory=dict)
    error: Exception | None = None
    ids: set[str] = field(default_factory=set)

    def fill(self, docs: Iterable[tuple[Doc, bool]], confidence: bool) -> None:
        """Fill in parsed documents; beside each is whether it is the next part of the one before.
        confidence: whether confidences are written."""
        if self.form == CONLLU:
            self._fill_rows((doc for doc, _ in docs), confidence)
            return
        lines, store = [], DocBin(store_user_data=True)
        for doc in _whole(docs):
            has_starts = doc.has_annotation("SENT_START")
            self.counts.sentences += len(list(doc.sents)) if has_starts else 1
            if self.form == JSON:
                lines.append(json.dumps(doc_to_json(doc, confidence), ensure_ascii=False) + "\n")
            else:
                store.add(doc)
        self.texts = ["".join(lines).encode()]
        if self.form == SPACY:
            self.store = vars(store)  # as a DocBin, it would be compressed

    def _fill_rows(self, docs: Iterable[Doc], confidence: bool) -> None:
        texts: list[str] = []  # since the last number
        for doc in docs:
            for sentence in doc_sentences(doc, confidence=confidence):
                mark_failed(sentence, doc)
                before, after = sentence.around_id()
                texts.append(before)
                if after:  # the number of the sentence is not known yet
                    self.texts.append("".join(texts).encode())
                    self.numbers.append(self.counts.sentences)
                    texts = [after]
                self.counts.sentences += 1
        self.texts.append("".join(texts).encode())


def _whole(docs: Iterable[tuple[Doc, bool]]) -> Iterator[Doc]:
    """Documents whose parts are joined."""
    parts: list[Doc] = []
    for doc, continues in docs:
        if parts and not continues:
            yield join_docs(parts)
            parts = []
        parts.append(doc)
    if parts:
        yield join_docs(parts)


class FileWriter:
    """Writes the parses of a file.

    Args:
        target: The output, which replaces what is there when it is complete; None: standard output.
        prepare: Called before it is opened, when its folder is there, with its path.
        note: Called with the path and the complete file, before that takes its place.
    """

    def __init__(
        self,
        target: str | Path | None,
        prepare: Callable[[Path], Any] = lambda target: None,
        note: Callable[[Path, Path], Any] = lambda target, new: None,
    ) -> None:
        self._target = None if target is None else Path(target)
        self._prepare = prepare
        self._note = note

    def write(
        self, parts: Iterable[Part], on_done: Callable[[int], Any] = lambda n_bytes: None
    ) -> Counts:
        """Write all parts, in order; those of a .spacy file are held until the last has come.

        Args:
            parts: What ``FileParser`` gives for a file.
            on_done: Called with the bytes of the input of each part that is written.

        Raises:
            OSError: If the output cannot be written, or the input not read.
            ValueError: If the input is not what it should be.
            RuntimeError: If a component failed, or a process died.
        """
        counts, ids, store = Counts(), SentenceIds(set()), None
        with self._opened() as file:
            for part in parts:
                if part.error is not None:
                    raise part.error
                ids.given, done = part.ids, 0
                for text, number in zip_longest(part.texts, part.numbers):
                    file.write(text)
                    if number is not None:
                        ids.skip(number - done)
                        file.write(ids.next().encode())
                        done = number + 1
                ids.skip(part.counts.sentences - done)
                if part.form == SPACY:
                    own = DocBin()
                    vars(own).update(part.store)
                    store = store or DocBin(store_user_data=True)
                    store.merge(own)
                counts.add(part.counts)
                on_done(part.n_bytes)
            if store is not None:
                file.write(store.to_bytes())
            file.flush()
        return counts

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        path = self._target
        if path is None:
            if sys.stdout is None:
                raise ValueError("standard output is closed: name a file with --output")
            yield sys.stdout.buffer
            return
        with ExitStack() as stack:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._prepare(path)
                note = partial(self._note, path)
                file = stack.enter_context(new_file(path, before_replace=note))
            except OSError as error:
                raise OSError(f"{path} cannot be written: {error.strerror or error}.") from error
            yield file


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
