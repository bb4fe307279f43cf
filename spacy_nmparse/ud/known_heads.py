"""Marks in MISC: heads that were known before a parse, and those that a person has confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy.tokens import Doc, Token

from spacy_nmparse.pipe.known import is_known
from spacy_nmparse.ud.conllu import EMPTY, HEAD, ID, MISC, Sentence
from spacy_nmparse.ud.docs_conllu import ROWS
from spacy_nmparse.ud.extensions import value_of
from spacy_nmparse.ud.rows import CONFIRMED, KNOWN_HEAD, is_marked

MARKS = frozenset((KNOWN_HEAD.encode(), CONFIRMED.encode()))


def has_mark(line: bytes) -> bool:
    """Whether MISC of a row of CoNLL-U has a mark."""
    columns = line.rstrip(b"\r\n").split(b"\t")
    items = columns[MISC].split(b"|") if len(columns) > MISC else ()
    return not MARKS.isdisjoint(items)


def is_marked_token(token: Token) -> bool:
    """Whether a token has a mark."""
    return is_known(token) or is_marked(value_of(token, "ud_misc"))


def take_heads(sentence: Sentence, keep: bool, marked: bool) -> list[bool]:
    """Which words of a sentence are to keep their heads. Marks that no longer hold are taken away:
    the parser marks what it keeps.

    Args:
        sentence: The sentence, whose MISC is changed.
        keep: Whether any are.
        marked: Whether only marked ones are.
    """
    taken = []
    for row in sentence.rows:
        if not row[ID].isdecimal():
            continue
        kept = keep and row[HEAD] != EMPTY and (not marked or is_marked(row[MISC]))
        row[MISC] = _unmarked(row[MISC], kept)
        taken.append(kept)
    return taken


def take_heads_of(doc: Doc, keep: bool, marked: bool) -> list[bool]:
    """The same for the tokens of a document, whose extensions are changed."""
    data: Any = doc.user_data
    taken = []
    for token in doc:
        kept = keep and bool(token.dep) and (not marked or is_marked_token(token))
        if misc := value_of(token, "ud_misc"):
            data["._.", "ud_misc", token.idx, None] = _unmarked(misc, kept)
        taken.append(kept)
    if ROWS in data:
        data[ROWS] = _unmarked_rows(data[ROWS], taken)
    return taken


def _unmarked_rows(sentences: Sequence[Any], taken: list[bool]) -> list[Any]:
    """Comments and rows of sentences, as documents have them. Where their words are no longer the
    tokens, no mark holds."""
    n_words = sum(row[ID].isdecimal() for _, rows in sentences for row in rows)
    kept = iter(taken if n_words == len(taken) else [False] * n_words)

    def unmarked(row: Sequence[str]) -> list[str]:
        misc = _unmarked(row[MISC], next(kept)) if row[ID].isdecimal() else row[MISC]
        return [*row[:MISC], misc, *row[MISC + 1 :]]

    return [(comments, [unmarked(row) for row in rows]) for comments, rows in sentences]


def _unmarked(misc: str, kept: bool) -> str:
    if not is_marked(misc):
        return misc
    gone = (KNOWN_HEAD,) if kept else (KNOWN_HEAD, CONFIRMED)
    return "|".join(item for item in misc.split("|") if item not in gone) or EMPTY
