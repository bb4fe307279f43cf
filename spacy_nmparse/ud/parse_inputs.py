"""Inputs: text, CoNLL-U and .spacy files, cut into pieces that any process can parse."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy
from spacy.attrs import IDX, LEMMA, MORPH, ORTH, POS, SENT_START, TAG
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_nmparse.pipe.annotations import GIVEN, same_tokens
from spacy_nmparse.pipe.doc_io import is_partial, preset_starts, set_heads, write_tags
from spacy_nmparse.pipe.spans import restore_spans
from spacy_nmparse.private import documents_between
from spacy_nmparse.ud.conllu import BOM, PLUS, Commented, Sentence, decode, sentences_of
from spacy_nmparse.ud.conllu_docs import grouped, sentences_to_doc
from spacy_nmparse.ud.corpus import open_spacy, read_spacy
from spacy_nmparse.ud.docs_conllu import ROWS, doc_sentences
from spacy_nmparse.ud.extensions import EXTENSIONS
from spacy_nmparse.ud.known_heads import has_mark, is_marked_token, take_heads, take_heads_of
from spacy_nmparse.ud.lookup import write_lemmas
from spacy_nmparse.ud.plain_text import Paragraph, TextFile, text_items

TEXT, LINES, CONLLU, SPACY = "text", "lines", "conllu", "spacy"
KINDS = (TEXT, LINES, CONLLU, SPACY)
SUFFIXES = {".conllu": CONLLU, ".conllup": CONLLU, ".conll": CONLLU, ".spacy": SPACY}
#: Characters of a piece of text, about; a piece of CoNLL-U has eight times as many bytes.
SIZE = 1 << 16
WORDS = 12_000  # of a piece of a .spacy file
N_SENTS = 50  # of a document of CoNLL-U


class Stretch(NamedTuple):
    """Lines of CoNLL-U: whole sentences.

    Attributes:
        lines: The lines.
        number: That of the first one in its file.
        columns: What ``# global.columns`` has said before; "": nothing.
        in_newdoc: Whether there was a ``# newdoc`` before.
    """

    lines: bytes
    number: int = 1
    columns: str = ""
    in_newdoc: bool = False


@dataclass
class Piece:
    """A part of a file. What a piece holds depends on the file alone: with any number of processes
    each is parsed by itself, so the parses are the same.

    Attributes:
        number: That of its file among those that are parsed together.
        kind: One of KINDS.
        name: What messages call the file.
        n_bytes: Bytes of the file, for a progress bar.
        content: Paragraphs or lines of plain text (``Paragraph``); lines of CoNLL-U (``Stretch``),
            several only within a ``# newdoc``; of a .spacy file the numbers of the first document
            and of the one behind the last.
        keep_heads: Whether known heads are kept.
        marked: Whether only those are that the file marks.
        error: Why there is no such piece.
    """

    number: int
    kind: str
    name: str
    n_bytes: int = 0
    content: list[Any] = field(default_factory=list)
    keep_heads: bool = False
    marked: bool = False
    error: Exception | None = None

    def items(self, vocab: Vocab) -> list[Item]:
        """The items to parse, in order."""
        how = self.keep_heads, self.marked
        if self.kind in (TEXT, LINES):
            return self.content
        if self.kind == CONLLU:
            parts = (conllu_items(one, vocab, self.name, *how) for one in self.content)
            return list(chain.from_iterable(parts))
        first, end = self.content
        docs = enumerate(_documents(Path(self.name), first, end, vocab), first + 1)
        items = ((doc, take_heads_of(doc, *how), f"document {i}") for i, doc in docs if len(doc))
        return [Known(*item) for item in items]


class FileReader:
    """Reads a file that is to be parsed, piece by piece.

    Args:
        source: The file; None: standard input.
        kind: One of KINDS; None: by the file's name, else plain text, unless its first lines are
            CoNLL-U.
        keep_heads: Whether heads and labels of CoNLL-U and .spacy files are given to the pipeline,
            whose parsers keep them if their ``keep_heads`` is on. Where a file has marks in MISC
            (``KnownHead=Yes``, ``Confirmed=Yes``), only those of marked words are.

    Attributes:
        name: What messages call the file.
        ids: The ids that sentences have, so that others do not get them; known with the first
            piece.
        given_up: Nobody wants the rest of its pieces.
    """

    def __init__(
        self, source: str | Path | None, kind: str | None = None, *, keep_heads: bool = False
    ) -> None:
        self.source = None if source is None else Path(source)
        self.name = name_of(self.source)
        self.ids: set[str] = set()
        self.given_up = False
        self._is_guess = kind is None
        suffix = "" if self.source is None else self.source.suffix.lower()
        self._kind = kind or SUFFIXES.get(suffix, TEXT)
        self._keep_heads = keep_heads
        self._marked = False

    def pieces(self, number: int = 0, whole: bool = False) -> Iterator[Piece]:
        """Read the pieces, in order; an empty file has one, too. What is wrong with the file comes
        as the error of the last.

        Args:
            number: The ``number`` of the pieces.
            whole: Whether what a ``# newdoc`` of CoNLL-U begins is in one piece, and no ids are
                wanted.
        """
        first = Piece(number, self._kind, self.name, keep_heads=self._keep_heads)
        try:
            with self._opened() as file:
                self._look_ahead(file, not whole)
                for piece in self._cut(file, replace(first, marked=self._marked), whole):
                    if self.given_up:
                        break
                    yield piece
        except (OSError, ValueError) as error:
            yield replace(first, error=error)

    def _opened(self) -> AbstractContextManager[IO[bytes]]:
        """The open file. CoNLL-U of a stream is stored first, to be read twice."""
        if self.source is not None and self.source.is_file():
            return self.source.open("rb")
        if self._kind == SPACY:
            raise ValueError(f"A .spacy file cannot come from {self.name}: name a file")
        opened: AbstractContextManager[IO[bytes]]
        if self.source is not None:
            opened = self.source.open("rb")
        elif sys.stdin is None:
            raise ValueError("standard input is closed: name a file")
        else:
            opened = nullcontext(sys.stdin.buffer)
        if self._kind != CONLLU:
            return opened
        stored: Any = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
        with opened as file:
            shutil.copyfileobj(file, stored)
        stored.seek(0)
        return stored  # type: ignore[no-any-return]

    def _look_ahead(self, file: IO[bytes], with_ids: bool) -> None:
        """Find the ids and marks of a whole file, if they are wanted."""
        if self._kind == CONLLU and (with_ids or self._keep_heads):
            for line in file:
                if line.startswith(b"#"):
                    if b"sent_id" in line:
                        comment = line.decode("utf-8", "replace").rstrip("\r\n")
                        self.ids.add(Commented([comment]).value("sent_id") or "")
                elif self._keep_heads and not self._marked:
                    self._marked = has_mark(line)
            file.seek(0)
        elif self._kind == SPACY and (with_ids or self._keep_heads):
            for doc in read_spacy(Path(self.name), Vocab()):
                if with_ids:
                    self.ids.update(one.value("sent_id") or "" for one in doc_sentences(doc))
                if self._keep_heads and not self._marked:
                    self._marked = any(map(is_marked_token, doc))

    def _cut(self, file: IO[bytes], piece: Piece, whole: bool) -> Iterator[Piece]:
        if self._kind == CONLLU:
            return _cut_conllu(file, piece, whole)
        if self._kind == SPACY:
            return _cut_store(piece)
        name = "stdin"
        if self.source is not None:
            name = self.source.stem.encode("utf-8", "backslashreplace").decode()
        text = TextFile(file, self.name, self._is_guess)
        return _cut_text(text, piece, re.sub(r"[\0-\x20]", "_", name))


def name_of(source: Path | None) -> str:
    """An input's name in messages."""
    return "standard input" if source is None else str(source)


def conllu_items(
    stretch: Stretch,
    vocab: Vocab,
    name: str,
    keep_heads: bool = False,
    marked: bool = False,
) -> Iterator[Known]:
    """Read the documents of CoNLL-U, in parts of N_SENTS sentences. Words and sentence boundaries
    are given; other annotation fills in what the pipeline does not set.

    Args:
        stretch: The lines.
        vocab: The pipeline's vocabulary.
        name: What messages call the file.
        keep_heads: Whether heads and labels are given, too.
        marked: Whether only those of marked words are.

    Yields:
        The parts. A document begins where ``# newdoc`` says so; before the first, each part is one.

    Raises:
        ValueError: If they are not UTF-8, or not CoNLL-U: the line is named.
    """
    in_newdoc = stretch.in_newdoc
    text = decode([stretch.lines], name, stretch.number)
    sentences = sentences_of(text, name, stretch.columns, stretch.number)
    for group in grouped(sentences, N_SENTS):
        taken = [kept for one in group for kept in take_heads(one, keep_heads, marked)]
        begins = group[0].starts("newdoc")
        yield _known(group, taken, in_newdoc and not begins, vocab, name)
        in_newdoc = in_newdoc or begins


def _known(
    sentences: Sequence[Sentence], taken: list[bool], continues: bool, vocab: Vocab, name: str
) -> Known:
    """Sentences of CoNLL-U as a document."""
    doc = sentences_to_doc(sentences, vocab, name=name)
    sent_id = sentences[0].value("sent_id")
    place = f"line {sentences[0].lines[0]}" + (f" (sent_id = {sent_id})" if sent_id else "")
    return Known(doc, taken, place, continues, sentences)


@dataclass(frozen=True)
class Known:
    """A document of words, and what its file says of them: of CoNLL-U or a .spacy file.

    Attributes:
        doc: The document.
        taken: Which of its tokens keep their heads.
        place: Where it is in its file.
        continues: Whether it is the next part of the document before.
        sentences: What it was made of, if it was CoNLL-U.
    """

    doc: Doc
    taken: list[bool]
    place: str
    continues: bool = False
    sentences: Sequence[Sentence] = ()

    @property
    def other_texts(self) -> list[int]:
        """The line of the first row of each sentence whose ``# text`` is not that of its words."""
        return [one.lines[0] for one in self.sentences if one.has_other_text]

    def to_parse(self) -> Doc:
        """The document for the pipeline: words, sentence starts, and the heads that are kept."""
        bare = unannotated(self.doc)
        said: Any = self.doc.user_data.items()
        bare.user_data.update((key, value) for key, value in said if _is_ours(key))
        return set_heads(bare, self.doc, self.taken) if any(self.taken) else bare

    def halves(self) -> list[Known]:
        """Its two halves; none, where it cannot be divided."""
        middle = len(self.sentences) // 2
        if not middle:
            return []
        n_words = sum(len(one.words) for one in self.sentences[:middle])
        halves = self.sentences[:middle], self.sentences[middle:]
        taken = self.taken[:n_words], self.taken[n_words:]
        continues = self.continues, True
        return [
            _known(*one, self.doc.vocab, self.place)
            for one in zip(halves, taken, continues, strict=True)
        ]

    def finish(self, doc: Doc) -> None:
        """Give the parsed document what the file says and the pipeline has not set: to those tokens
        that are the file's."""
        attributes = [IDX, ORTH, LEMMA, POS, TAG, MORPH]
        tokens: Any = self.doc.to_array(attributes)
        own: Any = doc.to_array(attributes[:3])
        data: Any = doc.user_data
        for key in [key for key in data if _is_ours(key) or key == GIVEN]:
            del data[key]
        places = set(own[:, 0].tolist())
        said = self.doc.user_data.items()
        data.update((key, value) for key, value in said if _is_ours(key) and key[2] in places)
        rows = [[one.comments, one.rows] for one in self.sentences] or self.doc.user_data.get(ROWS)
        if rows:
            data[ROWS] = rows
        _, here, there = numpy.intersect1d(own[:, 0], tokens[:, 0], return_indices=True)
        same = own[here, 1] == tokens[there, 1]
        here, known = here[same], tokens[there[same]]
        write_tags(doc, here.astype("int32"), numpy.ascontiguousarray(known[:, 3:]))
        lemmas = numpy.zeros(len(doc), dtype="uint64")
        lemmas[here] = numpy.where(own[here, 2] == 0, known[:, 2], 0)
        write_lemmas(doc, lemmas)
        restore_spans(self.doc, doc)


Item = Paragraph | Known  # what is parsed: a document


def unannotated(doc: Doc) -> Doc:
    """A document with the words, spaces and, where there are any, sentence starts of another.
    (Where some words lack heads, spaCy makes each of them a sentence.)"""
    own: Any = doc.to_array(SENT_START)
    starts = preset_starts(doc) if is_partial(doc) else own.astype("int64")
    return same_tokens(doc, sent_starts=starts.tolist())


def _is_ours(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 4 and key[1] in EXTENSIONS


def _cut_text(file: TextFile, piece: Piece, doc_id: str) -> Iterator[Piece]:
    items: list[Paragraph] = []
    size = 0
    for item in text_items(file, piece.name, doc_id, piece.kind == LINES):
        items.append(item)
        size += len(item.text)
        if size >= SIZE:
            yield replace(piece, content=items, n_bytes=file.taken())
            items, size = [], 0
    yield replace(piece, content=items, n_bytes=file.taken())


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
                if piece.content:
                    yield _with(piece, stretch, held[: end[0]])
                    piece, stretch = replace(piece, content=[]), Stretch(b"", *end[1:])
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
                piece = replace(piece, content=[])
            held, size, in_sentence = bytearray(), 0, False
            end = 0, number + 1, columns
            stretch = Stretch(b"", *end[1:], in_newdoc)
    yield _with(piece, stretch, held)


def _with(piece: Piece, stretch: Stretch, lines: bytearray) -> Piece:
    """The piece with one more stretch, of these lines."""
    content = [*piece.content, stretch._replace(lines=bytes(lines))]
    return replace(piece, content=content, n_bytes=sum(len(one.lines) for one in content))


def _cut_store(piece: Piece) -> Iterator[Piece]:
    path = Path(piece.name)
    lengths = [len(tokens) for tokens in _store(path).tokens]
    n_bytes, first, words = path.stat().st_size, 0, 0
    for end, length in enumerate(lengths, start=1):
        words += length
        if words >= WORDS:
            share = n_bytes * end // len(lengths) - n_bytes * first // len(lengths)
            yield replace(piece, n_bytes=share, content=[first, end])
            first, words = end, 0
    rest = n_bytes - n_bytes * first // max(len(lengths), 1)
    yield replace(piece, n_bytes=rest, content=[first, len(lengths)])


@lru_cache(maxsize=1)
def _store(path: Path) -> DocBin:
    """A .spacy file, which each process reads once."""
    return open_spacy(path)


forget_store = _store.cache_clear


def _documents(path: Path, first: int, last: int, vocab: Vocab) -> Iterator[Doc]:
    """Documents of a .spacy file."""
    store = _store(path)
    for string in store.strings:
        vocab.strings.add(string)
    store.strings = set()  # once is enough
    return documents_between(store, first, last).get_docs(vocab)
