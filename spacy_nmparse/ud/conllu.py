"""CoNLL-U and CoNLL-U Plus: sentences as rows, read by the formats' own rules."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import spacy_nmparse.systems.gold as gold
from spacy_nmparse.ud.table import Scanner, Table
from spacy_nmparse.wording import counted

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
NO_SPACE = "SpaceAfter=No"
AT_ONCE = 1 << 16  # bytes of a file that are read at once
PLUS = "global.columns"  # the comment of CoNLL-U Plus that names the columns
EMPTY = "_"
BOM = codecs.BOM_UTF8
NUMBER = re.compile("[1-9][0-9]*")
RANGE = re.compile("([1-9][0-9]*)-([1-9][0-9]*)")
EMPTY_NODE = re.compile(r"([0-9]+)\.([1-9][0-9]*)")


@dataclass(frozen=True, eq=False)
class Commented:
    """A sentence of CoNLL-U.

    Attributes:
        comments: The lines before it that begin with ``#``.
    """

    comments: list[str]

    def value(self, key: str) -> str | None:
        """What the comment ``# key = value`` says, "" for ``# key``; None: there is none."""
        for comment in self.comments:
            name, value = parts_of(comment)
            if name == key:
                return value
        return None

    def starts(self, unit: str) -> bool:
        """Whether a document or paragraph begins here: "newdoc" or "newpar", with or without id."""
        units = unit, f"{unit} id"
        return any(parts_of(one)[0] in units for one in self.comments if unit in one)


@dataclass(frozen=True)
class Lines(Commented):
    """A sentence as it is written.

    Attributes:
        text: The text that the forms and ``SpaceAfter=No`` make.
        rows: Its rows, a line each.
    """

    text: str
    rows: str

    def to_conllu(self, sent_id: str) -> str:
        """Write the sentence, and a blank line behind it.

        Args:
            sent_id: Its id, if the comments give none.

        Returns:
            The lines. ``# text`` stays where it has the letters of the forms.
        """
        before, after = self.around_id()
        return f"{before}{sent_id}{after}" if after else before

    def around_id(self) -> tuple[str, str]:
        """What ``to_conllu`` writes before and behind the id that it is given; where the comments
        have one, all that it writes, and nothing."""
        if not self.comments:
            return "# sent_id = ", f"\n# text = {self.text}\n{self.rows}\n"
        comments = [c for c in self.comments if parts_of(c) != ("sent_id", "")]
        place = [*(parts_of(c)[0] for c in comments), "text"].index("text")
        known = self.value("text")
        if known is None:
            comments.append(f"# text = {self.text}")
        elif not _same_letters(known, self.text):
            comments[place] = f"# text = {self.text}"
        if self.value("sent_id"):
            return "\n".join([*comments, self.rows]) + "\n", ""
        before = "\n".join([*comments[:place], "# sent_id = "])
        return before, "\n" + "\n".join([*comments[place:], self.rows]) + "\n"


class Sentence(Commented):
    """A sentence that was read. Lists of its rows are made for who asks for them.

    Args:
        comments: The lines before it that begin with ``#``.
        rows: Its rows, as they were read or as lists.
        lines: The number of each row's line in the file; none, where it is from no file.
    """

    lines: Sequence[int]
    _read: Table

    def __init__(
        self, comments: list[str], rows: Table | list[list[str]], lines: Sequence[int] = ()
    ) -> None:
        own = {"_read": rows} if isinstance(rows, Table) else {"rows": rows}
        vars(self).update(comments=comments, lines=lines, **own)

    def __reduce__(self) -> tuple[Any, ...]:
        return Sentence, (self.comments, self.rows, self.lines)

    @property
    def table(self) -> Table:
        """The rows as bytes; made anew where there are lists, which may have changed."""
        return Table.of(self.rows) if "rows" in vars(self) else self._read

    @cached_property
    def rows(self) -> list[list[str]]:
        """The lines: words, multiword tokens (``1-2``), empty nodes (``1.1``). The ten columns of
        CoNLL-U are in their order; behind them are those that CoNLL-U Plus has besides."""
        rows: list[list[str]] = self._read.rows()
        return rows

    @cached_property
    def words(self) -> list[list[str]]:
        """The rows of words."""
        return [row for row in self.rows if row[ID].isdecimal()]

    @cached_property
    def spaces(self) -> list[bool]:
        """Whether a space follows each word; none does within a multiword token."""
        spaces: list[bool] = self.table.spaces()
        return spaces

    @property
    def text(self) -> str:
        """The text that the forms and ``SpaceAfter=No`` make."""
        return str(self.table.text())

    @property
    def has_other_text(self) -> bool:
        """Whether ``# text`` has other letters than the forms; it is written anew then."""
        known = self.value("text")
        return known is not None and not _same_letters(known, self.text)

    def written(self) -> Lines:
        """The sentence as it is written."""
        rows = "".join("\t".join(row) + "\n" for row in self.rows)
        return Lines(self.comments, self.text, rows)


def find_cycle(heads: Sequence[int | None]) -> list[int]:
    """The words of a cycle, the first one again at its end; [], where there is none.

    Args:
        heads: The head of each word: 1 is the first word, 0 is ROOT, None is unknown.
    """
    found = gold.find_cycle([head - 1 if head else None for head in heads])
    return [word + 1 for word in found]


def depths(heads: Sequence[int]) -> list[int]:
    """How many arcs each word is below a root, which is its own head; below or in a cycle, as many
    as there are words."""
    n = len(heads)
    found = [-1] * n
    for first in range(n):
        path, word = [], first
        while found[word] < 0:
            found[word] = n
            path.append(word)
            word = heads[word]
        for word in reversed(path):
            head = heads[word]
            found[word] = 0 if head == word else min(n, found[head] + 1)
    return found


def _same_letters(one: str, other: str) -> bool:
    return one == other or "".join(one.split()) == "".join(other.split())


def parts_of(comment: str) -> tuple[str, str]:
    """Key and value of a comment ``# key = value``; the value of ``# key`` is ""."""
    name, _, value = comment[1:].partition("=")
    return name.strip(), value.strip()


def columns_comment(names: Iterable[str]) -> str:
    """The comment that names the columns of a file."""
    return f"# {PLUS} = {' '.join(names)}"


def read_rows(
    source: Path | str | Iterable[str],
    name: str = "the CoNLL-U text",
    *,
    columns: str = "",
    first_line: int = 1,
) -> Iterator[Sentence]:
    """Read sentences, one at a time.

    Args:
        source: A file (UTF-8, with any line ends), CoNLL-U text, or its lines.
        name: What messages call the source; a file goes by its path.
        columns: What ``# global.columns`` has said before; "": nothing.
        first_line: The number of the first line, for messages.

    Yields:
        The sentences.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not CoNLL-U: the line is named. Checked are the encoding, the columns
            and their spaces, the numbers of words, ranges and empty nodes, and the heads, but for
            cycles.
    """
    if isinstance(source, Path):
        name = str(source)
        with source.open("rb") as file:
            parts = iter(lambda: file.read(AT_ONCE) + file.readline(), b"")
            yield from sentences_of(decode(parts, name), name, columns, first_line)
    elif isinstance(source, str):
        yield from sentences_of([source + "\n"], name, columns, first_line)
    else:
        yield from sentences_of(source, name, columns, first_line, by_line=True)


def decode(lines: Iterable[bytes], name: str, first_line: int = 1) -> Iterator[str]:
    """Decode UTF-8, with or without a byte order mark.

    Args:
        lines: Lines, or several at once; long ones may come in pieces.
        name: What the message calls their source.
        first_line: The number of the first line, for the message.

    Yields:
        The lines, or pieces of them.

    Raises:
        ValueError: If a line is not UTF-8: it is named.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    number = first_line
    for line in chain(lines, [b""]):
        try:
            text = decoder.decode(line, final=not line)
        except UnicodeDecodeError as error:
            right = error.object[: error.object.rfind(b"\n", 0, error.start) + 1]
            if right:
                yield right.decode()
            raise ValueError(
                f"{name}, line {number + right.count(10)}: byte "
                f"{error.object[error.start]:#04x} is not UTF-8: convert the text to UTF-8 (iconv "
                f"-f ENCODING -t UTF-8)."
            ) from error
        number += line.count(b"\n")
        if text:
            yield text


class _Order:
    """The columns of rows.

    Args:
        names: What ``# global.columns`` says; "": those of CoNLL-U.
        where: What a message begins with.

    Raises:
        ValueError: ID or FORM is missing, or one is named twice.
    """

    def __init__(self, names: str, where: str) -> None:
        own = names.split() or list(COLUMNS)
        if not {"ID", "FORM"} <= {*own} or len({*own}) < len(own):
            raise ValueError(
                f"{where} # {PLUS} must name ID, FORM and other columns, none of them twice, not "
                f"{names!r}."
            )
        others = [name for name in own if name not in COLUMNS]
        self.n = len(own)
        self.names = [*COLUMNS, *others]
        known = {name: place for place, name in enumerate(own)}
        self._places = [known.get(name, self.n) for name in self.names]

    def table(self) -> Table:
        """A table for rows, with the columns of CoNLL-U in their order, the others behind."""
        return Table(self.n, None if self._places == [*range(self.n)] else self._places)


def sentences_of(
    parts: Iterable[str], name: str, columns: str = "", first_line: int = 1, by_line: bool = False
) -> Iterator[Sentence]:
    """Read sentences, as ``read_rows`` does, of text in parts: whole lines, or by line."""
    order = _Order(columns, f"{name}:")
    scanner = Scanner(first_line, by_line)
    comments: list[str] = []
    table = order.table()
    for part in parts:
        scanner.feed(part)
        while (line := scanner.rows(table)) is not None:
            where = f"{name}, line {scanner.number}:"
            if not line:
                yield _checked(comments, table, name)
                comments, table = [], order.table()
            elif not line.startswith("#"):
                n = line.count("\t") + 1
                why = "is it CoNLL-U?" if n > 1 else "columns are parted by tabs, not spaces."
                raise ValueError(f"{where} {counted(n, 'column')} instead of {order.n}; {why}")
            elif len(table):
                raise ValueError(
                    f"{where} a comment within a sentence; write it before the first word, or a "
                    f"blank line before it."
                )
            else:
                if PLUS in line and parts_of(line)[0] == PLUS:
                    names = parts_of(line)[1]
                    order = _Order(names, where)
                    table = order.table()
                    line = line if names.split() == order.names else columns_comment(order.names)
                comments.append(line)
    if len(table):
        yield _checked(comments, table, name)
    elif comments:
        raise ValueError(
            f"{name}, line {scanner.number}: no sentence follows the comments at the end."
        )


def _checked(comments: list[str], table: Table, name: str) -> Sentence:
    due, end, empty = 1, 0, 1  # the next word, the last one of a range, the next empty node
    n, i = table.n_words, 0
    while (odd := table.plain(i, due)) < len(table):
        if odd > i:
            due, empty = due + odd - i, 1
        row, where, i = table.row(odd), f"{name}, line {table.line + odd}:", odd + 1
        number = row[ID]
        _check_spaces(row, where)
        if found := RANGE.fullmatch(number):
            first, last = int(found[1]), int(found[2])
            if first != due or first <= end or not first < last <= n:
                raise ValueError(
                    f"{where} the range {number} must begin with word {due}, overlap no other "
                    f"range, and end with one of {counted(n, 'word')}."
                )
            end = last
        elif "-" in number:
            raise ValueError(f"{where} {number!r} is no range of words.")
        elif found := EMPTY_NODE.fullmatch(number):
            if (int(found[1]), int(found[2])) != (due - 1, empty):
                raise ValueError(f"{where} empty node {number} where {due - 1}.{empty} is due.")
            empty += 1
        elif "." in number:
            raise ValueError(f"{where} {number!r} is no number of an empty node.")
        else:
            if not NUMBER.fullmatch(number):
                raise ValueError(f"{where} {number!r} is no number of a word.")
            if int(number) != due:
                raise ValueError(f"{where} word {number} where {due} is due.")
            due, empty = due + 1, 1
            head = row[HEAD]
            if head not in (EMPTY, "0") and not NUMBER.fullmatch(head):
                raise ValueError(f"{where} {head!r} is no head.")
            if head == number:
                raise ValueError(f"{where} word {number} is its own head; the head of a root is 0.")
            if head != EMPTY and int(head) > n:
                raise ValueError(
                    f"{where} a head is {head}, but the sentence has {counted(n, 'word')}."
                )
    if not n:
        raise ValueError(f"{name}, line {table.line}: the sentence has no word.")
    return Sentence(comments, table, range(table.line, table.line + len(table)))


def _check_spaces(row: list[str], where: str) -> None:
    """Only U+0020 is a space of the format; others are characters like letters."""
    for number, value in enumerate(row[: len(COLUMNS)]):
        column = f"{where} column {number + 1} ({COLUMNS[number]})"
        if not value:
            raise ValueError(f"{column} is empty; write _.")
        if "\r" in value:
            raise ValueError(f"{column} has a carriage return in it: {value!r}.")
        if " " in value and number not in (FORM, LEMMA, MISC):
            raise ValueError(f"{column} may have no space: {value!r}.")
        if value != value.strip(" ") or "  " in value:
            raise ValueError(f"{column} may have only single spaces inside: {value!r}.")
