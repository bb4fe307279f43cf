"""Parsed sentences in the order of the parser's doubt, least sure first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy_nmparse.terminal import shown
from spacy_nmparse.ud.conllu import COLUMNS, FORM, ID, MISC, PLUS, Sentence, parts_of, read_rows
from spacy_nmparse.ud.rows import is_marked

SURE = "DepConfidence="
#: Comments that hold for the sentences behind them, which are others in a new order.
PLACES = (PLUS, "newdoc", "newpar", "newdoc id", "newpar id")


def by_doubt(files: Iterable[tuple[str, Path]]) -> Iterator[str]:
    """Sort the sentences of files by the confidence in the head and label of their least sure word.
    Words whose head was known do not count.

    Args:
        files: Names, and files of CoNLL-U with confidences.

    Yields:
        Sentences of CoNLL-U. Comments say the name (``# file``), and the confidence with the number
        and form of the word (``# least_sure``). They have no comments on documents and paragraphs.

    Raises:
        OSError: If a file cannot be read.
        ValueError: If it is not CoNLL-U.
    """
    found = [
        (min(_doubts(sentence), default=(1.0, "")), shown(name).replace("\n", "␊"), sentence)
        for name, file in files
        for sentence in read_rows(file)
    ]
    for (sure, word), name, sentence in sorted(found, key=lambda one: one[0][0]):
        comments = [text for text in sentence.comments if parts_of(text)[0] not in PLACES]
        comments += [f"# file = {name}", f"# least_sure = {sure:.3f} {word}".rstrip()]
        rows = [row[: len(COLUMNS)] for row in sentence.rows]
        yield Sentence(comments, rows).written().to_conllu("")


def _doubts(sentence: Sentence) -> Iterator[tuple[float, str]]:
    for row in sentence.words:
        for item in row[MISC].split("|"):
            if item.startswith(SURE) and not is_marked(row[MISC]):
                yield float(item.removeprefix(SURE)), f"{row[ID]} {row[FORM]}"
