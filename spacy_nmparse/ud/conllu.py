"""CoNLL-U, line by line: sentences as rows, and what is wrong with a file, by its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
NO_SPACE = "SpaceAfter=No"
EMPTY = "_"


@dataclass(frozen=True)
class Rows:
    """A sentence of CoNLL-U.

    Attributes:
        comments: The lines before it that begin with ``#``.
        rows: Its lines, ten columns each: words, multiword tokens (``1-2``), empty nodes (``1.1``).
        lines: The number of each row's line in the file.
    """

    comments: list[str]
    rows: list[list[str]]
    lines: list[int]

    @property
    def words(self) -> list[list[str]]:
        """The rows of words."""
        return [row for row in self.rows if row[ID].isdecimal()]

    def value(self, key: str) -> str | None:
        """What the comment ``# key = value`` says, "" for ``# key``; None: there is none."""
        for comment in self.comments:
            name, _, value = comment[1:].partition("=")
            if name.strip() == key:
                return value.strip()
        return None

    def starts(self, unit: str) -> bool:
        """Whether a document or paragraph begins here: "newdoc" or "newpar", with or without id."""
        return any(self.value(key) is not None for key in (unit, f"{unit} id"))


def read_rows(source: Path | str | Iterable[str], name: str = "the CoNLL-U text") -> Iterator[Rows]:
    """Read sentences, one at a time.

    Args:
        source: A file (UTF-8, with any line ends), CoNLL-U text, or its lines.
        name: What messages call the source; a file goes by its path.

    Yields:
        The sentences.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not CoNLL-U: the line is named. Checked are the encoding, the columns,
            the numbers of words, and the heads, but for cycles.
    """
    if isinstance(source, Path):
        name = str(source)
        with source.open("rb") as file:
            yield from _sentences(decode(file, name), name)
    else:
        lines = source.split("\n") if isinstance(source, str) else source
        yield from _sentences(lines, name)


def decode(lines: Iterable[bytes], name: str) -> Iterator[str]:
    """Decode lines of UTF-8, with or without a byte order mark.

    Args:
        lines: The lines.
        name: What the message calls their source.

    Yields:
        The lines.

    Raises:
        ValueError: If a line is not UTF-8: it is named.
    """
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{name}, line {number}: byte {line[error.start]:#04x} at place {error.start + 1} "
                f"is not UTF-8: convert the text to UTF-8 (iconv -f ENCODING -t UTF-8)."
            ) from error


def _sentences(lines: Iterable[str], name: str) -> Iterator[Rows]:
    sentence = Rows([], [], [])
    for number, raw in enumerate(lines, start=1):
        line = raw.rstrip("\r\n")
        if not line.strip():
            if sentence.rows:
                yield _checked(sentence, name)
                sentence = Rows([], [], [])
        elif line.startswith("#"):
            sentence.comments.append(line)
        else:
            row = line.split("\t")
            if len(row) != 10:
                raise ValueError(
                    f"{name}, line {number}: {len(row)} columns instead of 10; is it CoNLL-U?"
                )
            sentence.rows.append(row)
            sentence.lines.append(number)
    if sentence.rows:
        yield _checked(sentence, name)


def _checked(sentence: Rows, name: str) -> Rows:
    due, end = 1, 0
    n = len(sentence.words)
    for line, row in zip(sentence.lines, sentence.rows, strict=True):
        where = f"{name}, line {line}:"
        number = row[ID]
        if "" in row:
            raise ValueError(f"{where} column {row.index('') + 1} is empty; write _.")
        if "-" in number:
            first, _, last = number.partition("-")
            if not (first.isdecimal() and last.isdecimal()):
                raise ValueError(f"{where} {number!r} is no range of words.")
            if int(first) != due or not max(end, due) < int(last) <= n:
                raise ValueError(
                    f"{where} the range {number} must begin with word {due}, overlap no other "
                    f"range, and end with one of the {n} words."
                )
            end = int(last)
        elif "." in number:
            word, _, part = number.partition(".")
            if not (word.isdecimal() and part.isdecimal()):
                raise ValueError(f"{where} {number!r} is no number of an empty node.")
        else:
            if not number.isdecimal():
                raise ValueError(f"{where} {number!r} is no number of a word.")
            if int(number) != due:
                raise ValueError(f"{where} word {number} where {due} is due.")
            due += 1
            head = row[HEAD]
            if head != EMPTY and not (head.isascii() and head.isdecimal()):
                raise ValueError(f"{where} {head!r} is no head.")
            if head == number:
                raise ValueError(f"{where} word {number} is its own head; the head of a root is 0.")
            if head != EMPTY and int(head) > n:
                raise ValueError(f"{where} a head is {head}, but there are {n} words.")
    if not n:
        raise ValueError(f"{name}, line {sentence.lines[0]}: the sentence has no word.")
    return sentence


def spaces_after(rows: Sequence[Sequence[str]]) -> list[bool]:
    """Whether a space follows each word; none does within a multiword token.

    Args:
        rows: A sentence's rows.

    Returns:
        A value for each word.
    """
    spaces = []
    end, after = 0, True  # of a multiword token
    for row in rows:
        space = NO_SPACE not in row[MISC].split("|")
        if "-" in row[ID]:
            end, after = int(row[ID].partition("-")[2]), space
        elif row[ID].isdecimal():
            number = int(row[ID])
            spaces.append(False if number < end else after if number == end else space)
    return spaces
