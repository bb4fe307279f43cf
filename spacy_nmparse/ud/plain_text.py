"""Plain text as documents to parse: paragraphs or lines, and the whitespace around their words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from spacy.tokens import Doc

from spacy_nmparse.ud.conllu import BOM, NO_SPACE, PLUS, decode, parts_of
from spacy_nmparse.ud.extensions import register_extensions
from spacy_nmparse.ud.rows import SPACES_AFTER, SPACES_BEFORE, SPACES_IN, escaped

#: Characters of a document of plain text: a longer paragraph is cut.
LONGEST = 100_000
CHUNK = 1 << 16
ODD_SPACE = re.compile(r"\s{2,}|[^\S ]")  # all whitespace but single spaces
#: A row of CoNLL-U: ten columns, the first one the id of a word, a range or an empty node.
ROW = re.compile(rb"[0-9]+(?:[-.][0-9]+)?(?:\t[^\t]*){9}")
#: Rows of other formats: more columns, or columns parted by spaces, one of them ``_``.
OTHER_ROW = re.compile(
    rb"[0-9]+(?:[-.][0-9]+)?(?:(?:\t[^\t]*){9,}|(?=.*\s_(?:\s|$))(?:\s+\S+){7,}\s*)"
)
N_CHECKED = 100  # lines
SENTENCE_END = re.compile(r"[.!?…。！？]\S{0,2}\s")


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


def text_items(
    file: TextFile | IO[bytes], name: str, doc_id: str, by_line: bool
) -> Iterator[Paragraph]:
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
        yield Paragraph(words, before, gaps, comment if begins else None)


@dataclass(frozen=True)
class Paragraph:
    """A document of plain text.

    Attributes:
        text: The text, with single spaces between words.
        before: The whitespace before the first word.
        gaps: What was there instead of single spaces, in order, and the places of these.
        comment: A comment that begins it.
    """

    text: str
    before: str
    gaps: list[tuple[int, str]]
    comment: str | None
    continues = False
    other_texts: Sequence[int] = ()
    place = ""

    def to_parse(self) -> str:
        """The document for the pipeline."""
        return self.text

    def halves(self) -> list[Any]:
        """None: it cannot be divided."""
        return []

    def finish(self, doc: Doc) -> None:
        """Give the parsed document the whitespace that was there, and the comment."""
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
