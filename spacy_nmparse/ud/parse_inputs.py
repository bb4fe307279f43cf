"""What is to be parsed: documents from plain text, CoNLL-U and .spacy files, one at a time."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from spacy_nmparse.ud.conllu import NO_SPACE, decode
from spacy_nmparse.ud.conllu_docs import SPACES_AFTER, conllu_to_docs, escaped
from spacy_nmparse.ud.extensions import EXTENSIONS, register_extensions

TEXT, CONLLU, SPACY = "text", "conllu", "spacy"
KINDS = (TEXT, CONLLU, SPACY)
SUFFIXES = {".conllu": CONLLU, ".conll": CONLLU, ".spacy": SPACY}
#: Characters of a document of plain text: a longer paragraph is cut.
LONGEST = 100_000
CHUNK = 1 << 16
N_SENTS = 50  # of a document of CoNLL-U
SENTENCE_END = re.compile(r"[.!?…。！？]\S{0,2}\s")


@dataclass(frozen=True)
class Item:
    """A document to parse.

    Attributes:
        doc: Its text, or a Doc with its words and, where they are given, sentence starts.
        finish: Completes the parsed document: what the input says and the pipeline does not.
    """

    doc: str | Doc
    finish: Callable[[Doc], None]


def kind_of(path: Path) -> str:
    """What a file holds, by the end of its name."""
    return SUFFIXES.get(path.suffix.lower(), TEXT)


def read_items(file: IO[bytes], kind: str, vocab: Vocab, name: str, doc_id: str) -> Iterator[Item]:
    """Read the documents of a file.

    Args:
        file: The file, or its lines of CoNLL-U.
        kind: TEXT or CONLLU.
        vocab: The pipeline's vocabulary.
        name: What messages call the file.
        doc_id: The id of the document that plain text is.

    Yields:
        The documents. Of plain text these are paragraphs, parted by blank lines; whitespace in
        them is noted in MISC (``SpacesAfter``) and not seen by the pipeline. CoNLL-U and .spacy
        files give words and sentence boundaries; their other annotation fills in what the pipeline
        does not set.

    Raises:
        ValueError: If the file is not UTF-8, not CoNLL-U, or damaged: the line is named.
    """
    register_extensions()
    if kind == TEXT:
        yield from _text_items(file, name, doc_id)
        return
    yield from items_of(conllu_to_docs(decode(file, name), vocab, n_sents=N_SENTS, name=name))


def items_of(docs: Iterable[Doc]) -> Iterator[Item]:
    """Documents to be parsed again: what they say fills in what the pipeline does not set."""
    register_extensions()
    for doc in docs:
        if len(doc):
            yield Item(unannotated(doc), _Completion(doc))


def unannotated(doc: Doc) -> Doc:
    """A document with the words, spaces and, where there are any, sentence starts of another."""
    starts: list[bool | int | None] = [bool(token.is_sent_start) for token in doc]
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        sent_starts=starts if doc.has_annotation("SENT_START") else None,
    )


class _Completion:
    """Gives a parsed document what the input says of it and the pipeline has not set."""

    def __init__(self, known: Doc) -> None:
        self._data: Any = {
            key: value
            for key, value in known.user_data.items()
            if isinstance(key, tuple) and len(key) == 4 and key[1] in EXTENSIONS
        }
        self._tokens = [(t.lemma_, t.pos_, t.tag_, str(t.morph), t.has_morph()) for t in known]

    def __call__(self, doc: Doc) -> None:
        data: Any = doc.user_data
        for key in [key for key in data if isinstance(key, tuple) and key[1] in EXTENSIONS]:
            del data[key]
        data.update(self._data)
        for token, (lemma, pos, tag, morph, has_morph) in zip(doc, self._tokens, strict=True):
            token.lemma_ = token.lemma_ or lemma
            token.pos_ = token.pos_ or pos
            token.tag_ = token.tag_ or tag
            if has_morph and not token.has_morph():
                setter: Any = token
                setter.set_morph(morph)


def _text_items(file: IO[bytes], name: str, doc_id: str) -> Iterator[Item]:
    comment = f"# newdoc id = {doc_id}"
    for piece in _paragraphs(_decoded(file, name)):
        parts = re.split(r"(\s+)", piece.text.lstrip())
        words, gaps = parts[0::2], parts[1::2]
        if not words[-1]:
            words.pop()
        elif piece.goes_on:  # a word was cut
            gaps.append("")
        yield Item(" ".join(words), _Spacing(gaps, comment if piece.begins else None))
        comment = "# newpar"


class _Spacing:
    """Gives a parsed document of plain text the whitespace that was there, and a comment."""

    def __init__(self, gaps: list[str], comment: str | None) -> None:
        self._gaps = gaps
        self._comment = comment

    def __call__(self, doc: Doc) -> None:
        ends = [token for token in doc if token.whitespace_ or token.i + 1 == len(doc)]
        for token, gap in zip(ends, self._gaps, strict=False):  # a text may end without whitespace
            if gap != " ":
                _set(token, "ud_misc", SPACES_AFTER + escaped(gap) if gap else NO_SPACE)
        if self._comment:
            _set(doc[0], "ud_comments", [self._comment])


def _set(token: Token, name: str, value: Any) -> None:
    token._.set(name, value)


def _decoded(file: IO[bytes], name: str) -> Iterator[str]:
    """A file's lines; long ones in pieces."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    number = 1
    for chunk in iter(lambda: file.readline(CHUNK), b""):
        try:
            text = decoder.decode(chunk)
        except UnicodeDecodeError as error:
            raise _not_utf8(name, number, error) from error
        number += chunk.endswith(b"\n")
        yield text
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise _not_utf8(name, number, error) from error


def _not_utf8(name: str, line: int, error: UnicodeDecodeError) -> ValueError:
    byte = error.object[error.start]
    return ValueError(
        f"{name}, line {line}: byte {byte:#04x} is not UTF-8: convert the text to UTF-8 "
        f"(iconv -f ENCODING -t UTF-8)."
    )


class _Piece(NamedTuple):
    """A paragraph, or a part of one: whether it begins it, and whether another part follows."""

    text: str
    begins: bool
    goes_on: bool


def _paragraphs(lines: Iterator[str]) -> Iterator[_Piece]:
    """Paragraphs, parted by blank lines; those that are too long in pieces."""
    held, begins, at_start = "", True, True  # at the start of a line
    parts: list[str] = []  # of the line that held ends with
    for line in lines:
        is_blank = at_start and line.endswith("\n") and not line.strip()
        at_start = line.endswith("\n")
        if not is_blank:
            parts.append(line)
        if at_start or len(parts) * CHUNK > LONGEST:
            held, parts = held + "".join(parts), []
        if is_blank:
            if held.strip():
                yield _Piece(held, begins, False)
            held, begins = "", True
        while len(held) > LONGEST:
            end = _cut(held)
            if held[:end].strip():
                yield _Piece(held[:end], begins, True)
                begins = False
            held = held[end:]
    held += "".join(parts)
    if held.strip():
        yield _Piece(held, begins, False)


def _cut(text: str) -> int:
    """Where to cut a text that is too long: behind a sentence, a line or a word, if possible."""
    head = text[:LONGEST]
    ends = [found.end() for found in SENTENCE_END.finditer(head, LONGEST // 2)]
    if ends:
        return ends[-1]
    ends = [found.end() for found in re.finditer(r"\s", head[LONGEST // 2 :])]
    return LONGEST // 2 + ends[-1] if ends else LONGEST
