"""Operations on sentences of CoNLL-U that are annotated: confirm, split, merge, check."""

from __future__ import annotations

import io
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import Any

from spacy_nmparse.ud.conllu import (
    DEPREL,
    DEPS,
    EMPTY,
    FORM,
    HEAD,
    ID,
    LEMMA,
    MISC,
    PLUS,
    Sentence,
    find_cycle,
    parts_of,
    read_rows,
)
from spacy_nmparse.ud.rows import CONFIRMED, KNOWN_HEAD, is_marked

_VALIDATES = Lock()  # it is made for one thread
Row = Sequence[str]


def without(row: Row, *marks: str) -> list[str]:
    """A word without marks in MISC."""
    items = [item for item in row[MISC].split("|") if item not in (*marks, EMPTY)]
    return [*row[:MISC], "|".join(items) or EMPTY, *row[MISC + 1 :]]


def replaced(sentence: Sentence, change: Callable[[Row], list[str]]) -> Sentence:
    """A sentence with each word changed; other rows stay."""
    rows = [change(row) if row[ID].isdecimal() else [*row] for row in sentence.rows]
    return Sentence([*sentence.comments], rows)


def headless(row: Row) -> list[str]:
    """A word without its head and label, and without marks."""
    return without([*row[:HEAD], EMPTY, EMPTY, *row[DEPS:]], CONFIRMED, KNOWN_HEAD)


def only(sentence: Sentence, is_known: Callable[[Row], bool]) -> Sentence:
    """A sentence with the heads of some words alone."""
    return replaced(sentence, lambda row: [*row] if is_known(row) else headless(row))


def is_confirmed(row: Row) -> bool:
    """Whether a person has confirmed a word's head and label."""
    return CONFIRMED in row[MISC].split("|")


def forms_of(sentences: Iterable[Sentence]) -> list[str]:
    """The forms of all words."""
    return [row[FORM] for sentence in sentences for row in sentence.words]


def confirmed_of(sentences: Sequence[Sentence], before: Sequence[Sentence]) -> list[Sentence]:
    """The sentences with confirmed words, for training. Other words in them have no head, and of
    lemma, tags and features what they had before.

    Args:
        sentences: All that are annotated.
        before: The same words in the file that was annotated; [], if it says nothing of them.
    """
    given = [row for one in before for row in one.words]
    old = iter(given or [[EMPTY] * HEAD] * len(forms_of(sentences)))

    def known(row: Row) -> list[str]:
        pairs = zip(row[LEMMA:HEAD], next(old)[LEMMA:HEAD], strict=True)
        same = [now if now == then else EMPTY for now, then in pairs]
        return [*row] if is_confirmed(row) else [*row[:LEMMA], *same, *headless(row)[HEAD:]]

    found = [replaced(one, known) for one in sentences]
    return [one for one in found if any(map(is_confirmed, one.words))]


def known_by(sentences: Iterable[Sentence]) -> Callable[[Row], bool]:
    """Which words' heads are known: marked ones, where any word is marked; else all that are there.
    They are those that ``nmparse parse --keep-heads`` keeps."""
    rows = [row for sentence in sentences for row in sentence.words]
    if any(is_marked(row[MISC]) for row in rows):
        return lambda row: row[HEAD] != EMPTY and is_marked(row[MISC])
    return lambda row: row[HEAD] != EMPTY


def checked(comments: Sequence[str], rows: Sequence[Row]) -> Sentence:
    """A sentence that is CoNLL-U, of what a page has sent.

    Raises:
        ValueError: If it is not: the line is named. Or if it cannot be written.
    """
    lines = [*comments, *("\t".join(row) for row in rows)]
    if any(not line or "\n" in line or "\r" in line for line in lines):
        raise ValueError("A comment or a column is empty or has a line end.")
    if any(not line.startswith("#") or parts_of(line)[0] == PLUS for line in comments):
        raise ValueError(f"A comment begins with #, and is not {PLUS}.")
    "".join(lines).encode()  # a UnicodeEncodeError: half a character
    found = list(read_rows(lines, "the sentence"))
    if len(found) != 1:
        raise ValueError("The sentence has no word.")
    return found[0]


def words_of(sentences: Iterable[Sentence]) -> list[tuple[str, ...]]:
    """The parts that annotation leaves alone: kind and form of each row, MISC without Confirmed."""
    kinds = {"-": "range", ".": "empty"}
    return [
        (
            next((kind for sign, kind in kinds.items() if sign in row[ID]), "word"),
            row[FORM],
            without(row, CONFIRMED, KNOWN_HEAD)[MISC],
        )
        for sentence in sentences
        for row in sentence.rows
    ]


def _moved(row: Row, by: int, n: int) -> list[str]:
    """A row whose word gets another number; a head that is not among the n words is unknown."""
    number = "-".join(str(int(part) + by) for part in row[ID].split("-"))
    if not row[ID].isdecimal():
        return [number, *row[FORM:]]
    if row[HEAD] != EMPTY and row[HEAD] != "0" and not 1 <= int(row[HEAD]) + by <= n:
        row = headless(row)
    head = row[HEAD] if row[HEAD] in (EMPTY, "0") else str(int(row[HEAD]) + by)
    return [number, *row[FORM:HEAD], head, *row[DEPREL:]]


def _refuse_graphs(*sentences: Sentence) -> None:
    for row in (row for sentence in sentences for row in sentence.rows):
        if "." in row[ID] or row[DEPS] != EMPTY:
            raise ValueError(
                "The sentence has empty nodes or enhanced dependencies, which would be lost: split "
                "or merge it in a text editor."
            )


def split(sentence: Sentence, word: int) -> tuple[Sentence, Sentence]:
    """Cut a sentence in two. Arcs between the two are lost.

    Args:
        sentence: The sentence.
        word: The number of the word that begins the second one.

    Raises:
        ValueError: If the sentence cannot be cut there.
    """
    _refuse_graphs(sentence)
    n = len(sentence.words)
    if not 2 <= word <= n:
        raise ValueError(f"A sentence of {n} words is split before word 2 to {n}, not {word}.")
    rows: tuple[list[list[str]], list[list[str]]] = ([], [])
    for row in sentence.rows:
        first, _, last = row[ID].partition("-")
        if int(first) < word <= int(last or 0):
            raise ValueError(f"Word {word} is within the multiword token {row[FORM]!r}.")
        if int(first) < word:
            rows[0].append(_moved(row, 0, word - 1))
        else:
            rows[1].append(_moved(row, 1 - word, n - word + 1))
    comments = [one for one in sentence.comments if parts_of(one)[0] != "text"]
    return Sentence(comments, rows[0]), Sentence([], rows[1])


def merge(one: Sentence, other: Sentence) -> Sentence:
    """Join two sentences. The root of the second is unknown then, unless the first has none.

    Raises:
        ValueError: If they have empty nodes or enhanced dependencies.
    """
    _refuse_graphs(one, other)
    n, rows = len(one.words), [[*row] for row in one.rows]
    rooted = any(row[HEAD] == "0" for row in one.words)
    for row in other.rows:
        is_root = row[ID].isdecimal() and row[HEAD] == "0"
        rows.append(_moved(headless(row) if is_root and rooted else row, n, n + len(other.words)))
    dropped = ("text", "sent_id", "newdoc", "newdoc id", "newpar", "newpar id")
    comments = [comment for comment in one.comments if parts_of(comment)[0] != "text"]
    comments += [comment for comment in other.comments if parts_of(comment)[0] not in dropped]
    return Sentence(comments, rows)


def problems(sentence: Sentence, conllu: str) -> list[str]:
    """What is wrong with a tree: heads that are missing, roots, cycles; and what the official
    validator says at level 2, where the package udtools is installed.

    Args:
        sentence: The sentence.
        conllu: The same as text.
    """
    words = sentence.words
    heads = [None if row[HEAD] == EMPTY else int(row[HEAD]) for row in words]
    found = []
    if missing := [row[ID] for row, head in zip(words, heads, strict=True) if head is None]:
        found.append(f"No head: {', '.join(missing)}.")
    roots = [row[ID] for row, head in zip(words, heads, strict=True) if head == 0]
    if len(roots) > 1:
        found.append(f"{len(roots)} roots: {', '.join(roots)}.")
    elif not roots and not missing:
        found.append("No root.")
    if cycle := find_cycle(heads):
        found.append(f"Cycle: {' → '.join(map(str, cycle))}.")
    if not found and find_spec("udtools") is not None:
        with _VALIDATES:
            state = _validator().validate_file_handle(io.StringIO(conllu))
        lines = conllu.split("\n")
        places: dict[str, list[str]] = {}
        for one in state.error_tracker:
            if type(one).__name__ == "Error":
                number = lines[one.lineno - 1].partition("\t")[0]
                own = places.setdefault(str(one.message), [])
                own += [number] if number[:1].isdecimal() else []
        for message, numbers in places.items():
            found.append(f"{', '.join(numbers)}: {message}" if numbers else message)
    return found


@cache
def _validator() -> Any:
    """The official validator; it reads large tables when it is made."""
    from udtools.validator import Validator

    return Validator(lang="ud", level=2, args=Namespace(quiet=True))
