"""Cut inputs into pieces that any process can parse, and parse them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import IO

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.ud.conllu import BOM, PLUS, Sentence
from spacy_nmparse.ud.corpus import open_spacy
from spacy_nmparse.ud.parse_inputs import (
    CONLLU,
    LINES,
    SPACY,
    TEXT,
    Item,
    Stretch,
    TextFile,
    conllu_items,
    items_of,
    text_items,
    unannotated,
)
from spacy_nmparse.ud.parse_outputs import ERROR, Writer, Written

#: Characters of a piece of text, about; a piece of CoNLL-U has eight times as many bytes.
SIZE = 1 << 16
WORDS = 12_000  # of a piece of a .spacy file
NEW_STRINGS = 100_000  # with so many, the new words of plain text are forgotten


@dataclass
class Piece:
    """A part of an input. What a piece holds depends on the input alone: with any number of
    processes each is parsed by itself, so the parses are the same.

    Attributes:
        job: The number of its job.
        kind: One of KINDS.
        name: What messages call the input.
        n_bytes: Bytes of the input, for a progress bar.
        items: Paragraphs or lines of plain text.
        stretches: Lines of CoNLL-U; there are several stretches only within a ``# newdoc``.
        docs: Documents of a .spacy file: the first, and the one behind the last.
        marked: Whether, of known heads, only those are kept that the file marks.
        error: Why there is no such piece.
    """

    job: int
    kind: str
    name: str
    n_bytes: int = 0
    items: list[Item] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)
    docs: tuple[int, int] = (0, 0)
    marked: bool = False
    error: Exception | None = None


@dataclass
class Counts:
    """What has been parsed."""

    documents: int = 0
    sentences: int = 0
    words: int = 0
    failed: int = 0  # documents
    other_texts: list[int] = field(default_factory=list)  # lines whose ``# text`` is written anew

    def add(self, other: Counts) -> None:
        """Count what has been parsed besides."""
        self.documents += other.documents
        self.sentences += other.sentences
        self.words += other.words
        self.failed += other.failed
        self.other_texts += other.other_texts


@dataclass
class Part:
    """The parses of a piece.

    Attributes:
        job: The number of its job.
        n_bytes: Bytes of the input.
        counts: What was parsed.
        written: What goes into the output.
        error: Why there are none.
    """

    job: int
    n_bytes: int
    counts: Counts = field(default_factory=Counts)
    written: Written = field(default_factory=Written)
    error: Exception | None = None


def cut(
    file: IO[bytes],
    path: Path | None,
    kind: str,
    *,
    job: int,
    name: str,
    is_guess: bool,
    whole: bool = False,
) -> Iterator[Piece]:
    """Cut an input into pieces, in order; an empty one has one, too.

    Args:
        file: The open file.
        path: The file; None: standard input.
        kind: One of KINDS.
        job: The number of its job.
        name: What messages call it.
        is_guess: Whether its name alone says the kind.
        whole: Whether what a ``# newdoc`` of CoNLL-U begins is in one piece.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is not UTF-8, or no .spacy file.
    """
    if kind in (TEXT, LINES):
        name_of = path.stem.encode("utf-8", "backslashreplace").decode() if path else "stdin"
        doc_id = re.sub(r"[\0-\x20]", "_", name_of)
        yield from _cut_text(TextFile(file, name, is_guess), Piece(job, kind, name), doc_id)
    elif kind == CONLLU:
        yield from _cut_conllu(file, Piece(job, CONLLU, name), whole)
    else:
        yield from _cut_store(Path(name), job)


def _cut_text(file: TextFile, piece: Piece, doc_id: str) -> Iterator[Piece]:
    size = 0
    for item in text_items(file, piece.name, doc_id, piece.kind == LINES):
        piece.items.append(item)
        size += len(item.doc)
        if size >= SIZE:
            piece.n_bytes = file.taken()
            yield piece
            piece, size = Piece(piece.job, piece.kind, piece.name), 0
    piece.n_bytes = file.taken()
    yield piece


def _cut_conllu(file: IO[bytes], piece: Piece, whole: bool) -> Iterator[Piece]:
    """Cut behind blank lines that end sentences: comments stay with the sentence that follows. The
    stretches are the same with `whole`, which puts those of a ``# newdoc`` into one piece."""
    held, size = bytearray(), 0  # of the stretch
    stretch = Stretch(b"")  # what is known of it
    end = 0, 1, ""  # where the sentence held last ends, the line behind it, its columns
    columns, in_sentence, in_newdoc = "", False, False
    for number, line in enumerate(file, start=1):
        if line.startswith((b"#", BOM + b"#")):
            if in_sentence:
                end = len(held), number, columns
            in_sentence = False
            comment = Sentence([line.removeprefix(BOM).decode("utf-8", "replace")], [])
            columns = comment.value(PLUS) or columns
            if whole and comment.starts("newdoc"):
                if piece.stretches:
                    yield _with(piece, stretch, held[: end[0]])
                    piece, stretch = replace(piece, stretches=[]), Stretch(b"", *end[1:])
                    held, end = held[end[0] :], (0, *end[1:])
                in_newdoc = True
        elif line.strip():
            in_sentence = True
        held += line
        size += len(line)
        if in_sentence and size >= 8 * SIZE and not line.strip():
            piece = _with(piece, stretch, held)
            if not in_newdoc:
                yield piece
                piece = replace(piece, stretches=[])
            held, size, in_sentence = bytearray(), 0, False
            end = 0, number + 1, columns
            stretch = Stretch(b"", *end[1:], in_newdoc)
    yield _with(piece, stretch, held)


def _with(piece: Piece, stretch: Stretch, lines: bytearray) -> Piece:
    """The piece with one more stretch, of these lines."""
    stretches = [*piece.stretches, stretch._replace(lines=bytes(lines))]
    return replace(piece, stretches=stretches, n_bytes=sum(len(one.lines) for one in stretches))


def _cut_store(path: Path, job: int) -> Iterator[Piece]:
    lengths = [len(tokens) for tokens in _store(path).tokens]
    n_bytes, first, words = path.stat().st_size, 0, 0
    for end, length in enumerate(lengths, start=1):
        words += length
        if words >= WORDS:
            share = n_bytes * end // len(lengths) - n_bytes * first // len(lengths)
            yield Piece(job, SPACY, str(path), share, docs=(first, end))
            first, words = end, 0
    rest = n_bytes - n_bytes * first // max(len(lengths), 1)
    yield Piece(job, SPACY, str(path), rest, docs=(first, len(lengths)))


@lru_cache(maxsize=1)
def _store(path: Path) -> DocBin:
    """A .spacy file, which each process reads once."""
    return open_spacy(path)


class PieceParser:
    """Parses pieces. Each process has one.

    Args:
        nlp: The pipeline.
        form: One of FORMATS.
        confidence: Whether confidences are written.
        batch_size: Documents of a batch; None: the pipeline's own.
        keep_going: Whether a document that fails, or a sentence of CoNLL-U, is written without a
            parse, with its error.
        keep_heads: Whether heads and labels of CoNLL-U and .spacy files are given to the pipeline.
    """

    def __init__(
        self,
        nlp: Language,
        form: str,
        confidence: bool,
        batch_size: int | None = None,
        keep_going: bool = False,
        keep_heads: bool = False,
    ) -> None:
        self._nlp = nlp
        self._form = form
        self._confidence = confidence
        self._batch_size = batch_size
        self._keep_going = keep_going
        self.keep_heads = keep_heads
        self._zone: ExitStack | None = None
        self._n_known = 0  # strings when new words were last forgotten

    def __call__(self, piece: Piece) -> Part:
        """Parse a piece. What is wrong with it comes back in the part."""
        part = Part(piece.job, piece.n_bytes, error=piece.error)
        try:
            if part.error is None:
                self._open_zone(piece.kind in (TEXT, LINES))
                self._parse(piece, part)
        except (OSError, ValueError, RuntimeError) as error:
            part.error = error
        return part

    def close(self) -> None:
        """Forget what was kept for the next piece."""
        self._open_zone(False)
        _store.cache_clear()

    def _open_zone(self, wanted: bool) -> None:
        """New words of plain text are forgotten from time to time. Other inputs bring strings of
        annotation that spaCy keeps references to."""
        strings = self._nlp.vocab.strings
        if self._zone is not None and (not wanted or len(strings) - self._n_known >= NEW_STRINGS):
            zone, self._zone = self._zone, None
            zone.close()
        if wanted and self._zone is None:
            self._zone = ExitStack()
            self._zone.enter_context(self._nlp.memory_zone())
            self._n_known = len(strings)

    def _parse(self, piece: Piece, part: Part) -> None:
        items, counts = list(self._items(piece)), part.counts
        writer = Writer(self._form, self._confidence)
        for item, doc in self._parsed(piece.name, items):
            item.finish(doc)
            counts.failed += ERROR in doc.user_data
            writer.write(doc, item.continues)
            if self._form == CONLLU:
                counts.other_texts += item.other_texts
            counts.words += len(parsed_tokens([doc])[0])
        part.written = writer.written()
        counts.documents, counts.sentences = len(items), part.written.n_sents

    def _parsed(self, name: str, items: list[Item]) -> Iterable[tuple[Item, Doc]]:
        docs = self._nlp.pipe((item.doc for item in items), batch_size=self._batch_size)
        try:
            return list(zip(items, docs, strict=True))
        except Exception:  # of any component; what it was about is seen one by one
            return [pair for item in items for pair in self._alone(name, item.anew())]

    def _alone(self, name: str, item: Item) -> list[tuple[Item, Doc]]:
        """The parse of a document; if it fails, those of its halves; if it has none, its words.

        Raises the error, with its place, unless parsing is to go on.
        """
        try:
            return [(item, self._nlp(item.doc))]
        except Exception as error:
            if parts := item.halves():
                return [pair for part in parts for pair in self._alone(name, part)]
            if not self._keep_going:
                raise _located(name, item, error) from error
            if isinstance(item.doc, str):
                doc = Doc(self._nlp.vocab, words=item.doc.split(" "))
            else:
                doc = unannotated(item.doc)
            doc.user_data[ERROR] = f"{type(error).__name__}: {error}"
            return [(item, doc)]

    def _items(self, piece: Piece) -> Iterator[Item]:
        vocab = self._nlp.vocab
        if piece.kind in (TEXT, LINES):
            return iter(piece.items)
        if piece.kind == SPACY:
            docs = enumerate(_documents(Path(piece.name), *piece.docs, vocab), 1 + piece.docs[0])
            return items_of(docs, self.keep_heads, piece.marked)
        how = (vocab, piece.name, self.keep_heads, piece.marked)
        return chain.from_iterable(conllu_items(one, *how) for one in piece.stretches)


def _located(name: str, item: Item, error: Exception) -> Exception:
    """The error with the place of the document, if it is one that is reported."""
    for kind in (OSError, ValueError, RuntimeError):
        if item.place and isinstance(error, kind):
            return kind(f"{name}, {item.place}: {error}")
    return error


def _documents(path: Path, first: int, last: int, vocab: Vocab) -> Iterator[Doc]:
    """Documents of a .spacy file."""
    store = _store(path)
    for string in store.strings:
        vocab.strings.add(string)
    store.strings = set()  # once is enough
    some = DocBin()
    for name in ("tokens", "spaces", "cats", "span_groups", "user_data", "flags"):
        setattr(some, name, getattr(store, name)[first:last])
    some.attrs = store.attrs
    return some.get_docs(vocab)
