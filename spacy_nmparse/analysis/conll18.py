"""Scores by the program that evaluated the CoNLL 2018 shared task, as udtools ships it.

The parse is written into the gold CoNLL-U file in place of heads and labels, so that words,
multiword tokens and the text are the treebank's own. Enhanced dependencies and empty nodes are
left out.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from spacy_nmparse.analysis.treebank import read_conllu

METRICS = ("UAS", "LAS", "CLAS")
ID, HEAD, DEPREL, DEPS = 0, 6, 7, 8


def read_rows(path: Path) -> list[list[list[str]]]:
    """Read the sentences of a CoNLL-U file without empty nodes and enhanced dependencies.

    Args:
        path: The file.

    Returns:
        The rows of each sentence, multiword tokens included.
    """
    sentences = []
    for sentence in read_conllu(path).strip().split("\n\n"):
        rows = [line.split("\t") for line in sentence.split("\n")]
        rows = [row for row in rows if "." not in row[ID]]
        for row in rows:
            row[DEPS] = "_"
        sentences.append(rows)
    return sentences


def put_in(gold: list[list[list[str]]], docs: Iterable[Doc]) -> list[list[list[str]]]:
    """Put parses in place of the gold ones; where a parse has more sentences, so has the result.

    Args:
        gold: As from `read_rows`.
        docs: The parses of the same words, in the same order.

    Returns:
        The rows of each sentence.

    Raises:
        ValueError: If the words are not those of the gold file.
    """
    rows = [row for sentence in gold for row in sentence]
    place = 0
    sentences: list[list[list[str]]] = []
    for doc in docs:
        for sent in doc.sents:
            filled: list[list[str]] = []
            word = 0
            while word < len(sent):
                if place == len(rows):
                    raise ValueError("The parse has more words than the CoNLL-U file.")
                row = list(rows[place])
                place += 1
                if "-" in row[ID]:
                    first, _, last = row[ID].partition("-")
                    row[ID] = f"{word + 1}-{word + 1 + int(last) - int(first)}"
                    filled.append(row)
                    continue
                token = sent[word]
                word += 1
                if "".join(token.text.split()) != "".join(row[1].split()):
                    raise ValueError(
                        f"The parse has {token.text!r} where the CoNLL-U file has {row[1]!r}."
                    )
                is_root = token.head.i == token.i
                row[ID] = str(word)
                row[HEAD] = "0" if is_root else str(token.head.i - sent.start + 1)
                row[DEPREL] = "root" if is_root else token.dep_.lower()
                filled.append(row)
            sentences.append(filled)
    if place != len(rows):
        raise ValueError("The parse has fewer words than the CoNLL-U file.")
    return sentences


def score(gold: Path, docs: Iterable[Doc]) -> dict[str, Any]:
    """Score parses as the CoNLL 2018 shared task did.

    Args:
        gold: The gold CoNLL-U file.
        docs: The parses of its words, in its order.

    Returns:
        F1 of UAS, LAS and CLAS; or `error`, what the program objected to.

    Raises:
        ImportError: If udtools is not installed.
        ValueError: If the words are not those of the gold file.
    """
    from udtools import udeval

    rows = read_rows(gold)
    options = {"multiple_roots_okay": True}
    try:
        sides = []
        for sentences in (rows, put_in(rows, docs)):
            lines = ("\n".join(map("\t".join, sentence)) + "\n\n" for sentence in sentences)
            sides.append(udeval.load_conllu(io.StringIO("".join(lines)), str(gold), options))
        found = udeval.evaluate(*sides)
    except udeval.UDError as error:
        return {"error": str(error)}
    return {metric: found[metric].f1 for metric in METRICS}
