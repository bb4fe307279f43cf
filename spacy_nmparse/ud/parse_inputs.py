"""What is to be parsed: documents from plain text, CoNLL-U and .spacy files, one at a time."""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy
from spacy.attrs import IDX, LEMMA, MORPH, ORTH, POS, SENT_START, TAG
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_nmparse.pipe.annotations import same_tokens
from spacy_nmparse.pipe.doc_io import is_partial, preset_starts, set_heads, write_tags
from spacy_nmparse.ud.conllu import BOM, NO_SPACE, PLUS, Sentence, decode, parts_of, read_rows
from spacy_nmparse.ud.conllu_docs import grouped, sentences_to_doc
from spacy_nmparse.ud.corpus import read_spacy
from spacy_nmparse.ud.docs_conllu import ROWS, doc_sentences
from spacy_nmparse.ud.extensions import EXTENSIONS, register_extensions
from spacy_nmparse.ud.known_heads import take_heads, take_heads_of
from spacy_nmparse.ud.lookup import write_lemmas
from spacy_nmparse.ud.rows import SPACES_AFTER, SPACES_BEFORE, SPACES_IN, escaped

TEXT, LINES, CONLLU, SPACY = "text", "lines", "conllu", "spacy"
KINDS = (TEXT, LINES, CONLLU, SPACY)
SUFFIXES = {".conllu": CONLLU, ".conllup": CONLLU, ".conll": CONLLU, ".spacy": SPACY}
#: Characters of a document of plain text: a longer paragraph is cut.
LONGEST = 100_000
CHUNK = 1 << 16
N_SENTS = 50  # of a document of CoNLL-U
ODD_SPACE = re.compile(r"\s{2,}|[^\S ]")  # all whitespace but single spaces
#: A row of CoNLL-U: ten columns, the first one the id of a word, a range or an empty node.
ROW = re.compile(rb"[0-9]+(?:[-.][0-9]+)?(?:\t[^\t]*){9}")
#: Rows of other formats: more columns, or columns parted by spaces, one of them ``_``.
OTHER_ROW = re.compile(
    rb"[0-9]+(?:[-.][0-9]+)?(?:(?:\t[^\t]*){9,}|(?=.*\s_(?:\s|$))(?:\s+\S+){7,}\s*)"
)
N_CHECKED = 100  # lines
SENTENCE_END = re.compile(r"[.!?…。！？]\S{0,2}\s")


@dataclass(frozen=True)
class Item:
    """A document to parse.

    Attributes:
        doc: Its text, or a Doc with its words and, where they are given, sentence starts.
        finish: Completes the parsed document: what the input says and the pipeline does not.
        other_texts: Of CoNLL-U, the line of the first row of each sentence whose ``# text`` is not
            that of its words.
        continues: Whether it is the next part of the document before.
        place: Where it is in its file.
        make: Makes it once more, as it was before it was parsed; None: it is a text.
        divide: Makes items of its parts; None: it has none.
    """

    doc: str | Doc
    finish: Callable[[Doc], None]
    other_texts: Sequence[int] = ()
    continues: bool = False
    place: str = ""
    make: Callable[[], Item] | None = None
    divide: Callable[[], list[Item]] | None = None

    def anew(self) -> Item:
        """The item as it was before it was parsed."""
        return self if self.make is None else self.make()

    def halves(self) -> list[Item]:
        """Its two halves; none, where it cannot be divided."""
        return [] if self.divide is None else self.divide()


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


def kind_of(path: Path) -> str:
    """What a file holds, by the end of its name."""
    return SUFFIXES.get(path.suffix.lower(), TEXT)


class TextFile:
    """A file of plain text that knows how much of it was read.

    Args:
        file: The open file.
        name: What messages call it.
        is_guess: Whether it is text by its name alone: then its first lines must not be CoNLL-U, or
            rows of a similar format.
    """

    def __init__(self, file: IO[bytes], name: str, is_guess: bool) -> None:
        self._file = file
        self._name = name
        self._n_left = N_CHECKED if is_guess else 0
        self._n_bytes = 0

    def readline(self, size: int = -1) -> bytes:
        """Read a line; ValueError, if it is of CoNLL-U, or of another table of words."""
        line = self._file.readline(size)
        self._n_bytes += len(line)
        if self._n_left:
            self._n_left -= 1
            self._check(line.removeprefix(BOM).rstrip(b"\r\n"))
        return line

    def _check(self, line: bytes) -> None:
        plus = line.startswith(b"#") and parts_of(line.decode("utf-8", "replace"))[0] == PLUS
        if plus or ROW.fullmatch(line):
            what = "CoNLL-U Plus" if plus else "CoNLL-U"
            raise ValueError(
                f"{self._name} looks like {what}: --input-format conllu (text, if it is none)."
            )
        if OTHER_ROW.fullmatch(line):
            raise ValueError(
                f"{self._name} looks like a table of words, but not like CoNLL-U, whose ten "
                f"columns are parted by tabs: convert it to CoNLL-U (--input-format text, if it is "
                f"text)."
            )

    def taken(self) -> int:
        """How many bytes were read since this was last asked."""
        n_bytes, self._n_bytes = self._n_bytes, 0
        return n_bytes


def text_items(file: TextFile | IO[bytes], name: str, doc_id: str, by_line: bool) -> Iterator[Item]:
    """Read the documents of plain text: paragraphs, parted by blank lines, or lines.

    Args:
        file: The file, which is read piece by piece.
        name: What messages call it.
        doc_id: The id of the document that the text is; those of lines have numbers behind it.
        by_line: Whether each line is a document.

    Yields:
        The documents. The pipeline sees single spaces between words, and what was there is in MISC
        (``SpacesBefore``, ``SpacesAfter``, ``SpacesInToken``).

    Raises:
        ValueError: If the file is not UTF-8: the line is named.
    """
    register_extensions()
    n_docs = 0
    chunks = iter(lambda: file.readline(CHUNK), b"")
    for text, begins in _paragraphs(decode(chunks, name), by_line):
        n_docs += begins
        comment = "# newpar"
        if by_line or n_docs == 1:
            comment = f"# newdoc id = {doc_id}" + f"-{n_docs}" * by_line
        words = text.strip()
        before, after = text[: -len(text.lstrip())], text[len(text.rstrip()) :]
        gaps, longer = [], 0
        for found in ODD_SPACE.finditer(words):
            gaps.append((found.start() - longer, found[0]))
            longer += len(found[0]) - 1
        words = ODD_SPACE.sub(" ", words)
        gaps.append((len(words), after))
        yield Item(words, _Spacing(before, gaps, comment if begins else None))


def conllu_items(
    stretch: Stretch,
    vocab: Vocab,
    name: str,
    keep_heads: bool = False,
    marked: bool = False,
) -> Iterator[Item]:
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
    in_newdoc, how = stretch.in_newdoc, {"first_line": stretch.number}
    lines = decode(io.BytesIO(stretch.lines), name, **how)
    sentences = read_rows(lines, name, columns=stretch.columns, **how)
    for group in grouped(sentences, N_SENTS):
        taken = [take_heads(sentence, keep_heads, marked) for sentence in group]
        begins = group[0].starts("newdoc")
        yield _conllu_item(group, taken, in_newdoc and not begins, vocab, name)
        in_newdoc = in_newdoc or begins


def _conllu_item(
    sentences: list[Sentence], taken: list[list[bool]], continues: bool, vocab: Vocab, name: str
) -> Item:
    """Sentences of CoNLL-U as an item. taken: which words keep their heads."""

    def part(first: int, last: int, continues: bool) -> Item:
        return _conllu_item(sentences[first:last], taken[first:last], continues, vocab, name)

    middle, end = len(sentences) // 2, len(sentences)
    sent_id = sentences[0].value("sent_id")
    doc = sentences_to_doc(sentences, vocab, name=name)
    rows = [[sentence.comments, sentence.rows] for sentence in sentences]
    return Item(
        _to_parse(doc, list(chain.from_iterable(taken))),
        _Completion(doc, rows),
        [sentence.lines[0] for sentence in sentences if sentence.has_other_text],
        continues,
        f"line {sentences[0].lines[0]}" + (f" (sent_id = {sent_id})" if sent_id else ""),
        lambda: part(0, end, continues),
        (lambda: [part(0, middle, continues), part(middle, end, True)]) if middle else None,
    )


def given_ids(file: IO[bytes], kind: str, name: str) -> set[str]:
    """The ids that sentences of a file have, so that others do not get them.

    Args:
        file: The file, which is left at its start.
        kind: One of KINDS.
        name: What messages call it.
    """
    ids: set[str] = set()
    if kind == CONLLU:
        for line in file:
            if line.startswith(b"#") and b"sent_id" in line:
                comment = line.decode("utf-8", "replace").rstrip("\r\n")
                ids.add(Sentence([comment], []).value("sent_id") or "")
        file.seek(0)
    elif kind == SPACY:
        for doc in read_spacy(Path(name), Vocab()):
            ids.update(sentence.value("sent_id") or "" for sentence in doc_sentences(doc))
    return ids


def items_of(
    docs: Iterable[tuple[int, Doc]], keep_heads: bool = False, marked: bool = False
) -> Iterator[Item]:
    """Documents to be parsed again: what they say fills in what the pipeline does not set.

    Args:
        docs: The documents, and their numbers in their file.
        keep_heads: Whether the documents to be parsed have their heads and labels.
        marked: Whether only those of marked words are.
    """
    for number, doc in docs:
        if len(doc):
            yield _item(doc, take_heads_of(doc, keep_heads, marked), f"document {number}")


def _item(doc: Doc, taken: list[bool], place: str) -> Item:
    finish = _Completion(doc, [])
    return Item(_to_parse(doc, taken), finish, place=place, make=lambda: _item(doc, taken, place))


def _to_parse(doc: Doc, taken: list[bool]) -> Doc:
    """A document with the words of another, and of these words their heads and labels."""
    bare = unannotated(doc)
    return set_heads(bare, doc, taken) if any(taken) else bare


def unannotated(doc: Doc) -> Doc:
    """A document with the words, spaces and, where there are any, sentence starts of another.
    (Where some words lack heads, spaCy makes each of them a sentence.)"""
    own: Any = doc.to_array(SENT_START)
    starts = preset_starts(doc) if is_partial(doc) else own.astype("int64")
    return same_tokens(doc, sent_starts=starts.tolist())


class _Completion:
    """Gives a parsed document what the input says of it and the pipeline has not set: to those
    tokens that are the input's."""

    def __init__(self, known: Doc, rows: list[Any]) -> None:
        data: Any = known.user_data
        self._data = {key: value for key, value in data.items() if _is_ours(key)}
        self._rows = rows or data.get(ROWS)
        self._tokens: Any = known.to_array([IDX, ORTH, LEMMA, POS, TAG, MORPH])

    def __call__(self, doc: Doc) -> None:
        own: Any = doc.to_array([IDX, ORTH, LEMMA])
        data: Any = doc.user_data
        for key in [key for key in data if _is_ours(key)]:
            del data[key]
        places = set(own[:, 0].tolist())
        data.update((key, value) for key, value in self._data.items() if key[2] in places)
        if self._rows:
            data[ROWS] = self._rows
        _, here, there = numpy.intersect1d(own[:, 0], self._tokens[:, 0], return_indices=True)
        same = own[here, 1] == self._tokens[there, 1]
        here, known = here[same], self._tokens[there[same]]
        write_tags(doc, here.astype("int32"), numpy.ascontiguousarray(known[:, 3:]))
        lemmas = numpy.zeros(len(doc), dtype="uint64")
        lemmas[here] = numpy.where(own[here, 2] == 0, known[:, 2], 0)
        write_lemmas(doc, lemmas)


def _is_ours(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 4 and key[1] in EXTENSIONS


@dataclass(frozen=True)
class _Spacing:
    """Gives a parsed document of plain text the whitespace that was there, and a comment.

    Attributes:
        before: The whitespace before the first word.
        gaps: What was there instead of single spaces, in order, and the places of these.
        comment: A comment.
    """

    before: str
    gaps: list[tuple[int, str]]
    comment: str | None

    def __call__(self, doc: Doc) -> None:
        if not len(doc):
            return
        data: Any = doc.user_data
        starts = doc.to_array("IDX").tolist()
        items = {0: [SPACES_BEFORE + escaped(self.before)]} if self.before else {}
        merged: dict[int, str] = {}  # tokens with gaps inside, as they were
        for place, gap in reversed(self.gaps):
            i = bisect_right(starts, place) - 1
            inside = place - starts[i]
            if gap != " " and inside < len(doc[i]):
                text = merged.get(i, doc[i].text)
                merged[i] = text[:inside] + gap + text[inside + 1 :]
            elif gap != " " and inside == len(doc[i]):
                item = SPACES_AFTER + escaped(gap) if gap else NO_SPACE
                items.setdefault(i, []).append(item)
        for i, text in merged.items():
            place = int(i == 0 and self.before != "")  # behind SPACES_BEFORE
            items.setdefault(i, []).insert(place, SPACES_IN + escaped(text))
        for i, own in items.items():
            data["._.", "ud_misc", starts[i], None] = "|".join(own)
        if self.comment:
            data["._.", "ud_comments", starts[0], None] = [self.comment]


def _paragraphs(lines: Iterator[str], by_line: bool) -> Iterator[tuple[str, bool]]:
    """Paragraphs, or lines, with the blank lines behind them; those that are too long in pieces.
    Beside each is whether a paragraph begins with it. Nothing comes of whitespace alone."""
    held, begins, at_start = "", True, True  # at the start of a line
    n_full = 0  # characters of held up to the last line that is not blank
    ended = False  # by a blank line, or by_line
    parts: list[str] = []  # of the line that held ends with
    for line in lines:
        if at_start and line.endswith("\n") and not line.strip():
            held += line
            ended = n_full > 0
            continue
        if ended and at_start:
            yield held, begins
            held, begins, n_full, ended = "", True, 0, False
        at_start = line.endswith("\n")
        parts.append(line)
        if at_start or len(parts) * CHUNK > LONGEST:
            held, parts = held + "".join(parts), []
            n_full = len(held)
            ended = by_line and at_start
        while n_full > LONGEST:
            end = _cut(held)
            if not held[end:].strip() or not held[:end].strip():
                break
            yield held[:end], begins
            held, begins, n_full = held[end:], False, n_full - end
    held += "".join(parts)
    if held.strip():
        yield held, begins


def _cut(text: str) -> int:
    """Where to cut a text that is too long: behind a sentence, a line or a word, if possible."""
    head = text[:LONGEST]
    ends = [found.end() for found in SENTENCE_END.finditer(head, LONGEST // 2)]
    if ends:
        return ends[-1]
    ends = [found.end() for found in re.finditer(r"\s", head[LONGEST // 2 :])]
    return LONGEST // 2 + ends[-1] if ends else LONGEST
