"""Scores by the program that evaluated the CoNLL 2018 shared task, as udtools ships it.

Parses of the gold words (`score_words`) are written into the gold CoNLL-U file in place of heads
and labels, so that words, multiword tokens and the text are the treebank's own. Parses of the text
(`score_text`) have the tokenizer's words, which the program aligns with the gold words by their
place in the text: all words count on both sides. Enhanced dependencies and empty nodes are left
out.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from spacy_nmparse.ud import conllu
from spacy_nmparse.ud.conllu import DEPREL, DEPS, EMPTY, FORM, HEAD, ID
from spacy_nmparse.ud.conllu_docs import sentence_rows

Rows = list[list[str]]
TREES = ("UAS", "LAS", "CLAS")
#: What a tokenizer and a sentence splitter are scored by.
TEXT = ("Tokens", "Sentences", "Words")
TAGS = ("UPOS", "XPOS", "UFeats", "AllTags")
#: All that the shared task reported, in its order.
METRICS = (*TEXT, *TAGS, "Lemmas", *TREES, "MLAS", "BLEX")


def require_udtools() -> None:
    """Check that the evaluation can run.

    Raises:
        ImportError: If udtools is not installed.
    """
    if find_spec("udtools") is None:
        raise ImportError(
            "The CoNLL 2018 evaluation needs the package udtools: install this package with its "
            "extra demo, or python -m pip install udtools"
        )


def read_rows(path: Path) -> list[Rows]:
    """Read the sentences of a CoNLL-U file without empty nodes and enhanced dependencies.

    Args:
        path: The file.

    Returns:
        The rows of each sentence, multiword tokens included.
    """
    sentences = []
    for sentence in conllu.read_rows(path):
        rows = [row for row in sentence.rows if "." not in row[ID]]
        for row in rows:
            row[DEPS] = EMPTY
        sentences.append(rows)
    return sentences


def put_in(gold: list[Rows], docs: Iterable[Doc]) -> list[Rows]:
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
    sentences: list[Rows] = []
    for doc in docs:
        for sent in doc.sents:
            filled: Rows = []
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


def rows_of(docs: Iterable[Doc]) -> list[Rows]:
    """Write documents as CoNLL-U.

    Whitespace tokens are left out, and so is whitespace in words: the program wants neither.

    Args:
        docs: The documents. One without sentence boundaries is one sentence.

    Returns:
        The rows of each sentence. Words without annotation have the head 0 and no label.
    """
    return [rows for doc in docs for rows in _sentence_rows(doc)]


def _sentence_rows(doc: Doc) -> Iterator[Rows]:
    for sent in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
        rows = sentence_rows(sent)
        for row in rows:
            row[FORM] = "".join(row[FORM].split())
            row[DEPREL] = row[DEPREL].lower()
            if row[ID].isdecimal() and row[HEAD] == EMPTY:
                row[HEAD] = "0"
        if rows:
            yield rows


def score_words(gold: Path, docs: Iterable[Doc]) -> dict[str, Any]:
    """Score parses of the gold words as the CoNLL 2018 shared task did.

    Args:
        gold: The gold CoNLL-U file.
        docs: The parses of its words, in its order.

    Returns:
        F1 of UAS, LAS and CLAS; or `error`, what the program objected to.

    Raises:
        ImportError: If udtools is not installed.
        ValueError: If the words are not those of the gold file.
    """
    rows = read_rows(gold)
    return _evaluate(rows, put_in(rows, docs), TREES)


def score_text(gold: Path | list[Doc], docs: list[Doc]) -> dict[str, Any]:
    """Score parses of plain text as the CoNLL 2018 shared task did.

    Args:
        gold: The gold documents; or the gold CoNLL-U file: then the words that it splits multiword
            tokens into are the gold words, as in the shared task.
        docs: The parses of the same text, in the same order, with any tokens.

    Returns:
        F1 of Tokens, Sentences, Words, UAS, LAS and CLAS, the last three None where nothing was
        parsed; where the parses have tags or lemmas, of these too, of MLAS and of BLEX; or
        `error`, what the program objected to.

    Raises:
        ImportError: If udtools is not installed.
    """
    if isinstance(gold, Path):
        rows = read_rows(gold)
    elif all(token.dep or token.text.isspace() for doc in gold for token in doc):
        rows = rows_of(gold)
    else:
        return {"error": "The gold data have words without a head and label."}
    has_tags = any(doc.has_annotation("POS") for doc in docs)
    has_lemmas = any(doc.has_annotation("LEMMA") for doc in docs)
    metrics = [*TEXT, *TREES]
    metrics += [*TAGS, "MLAS"] if has_tags else []
    metrics += ["Lemmas", "BLEX"] if has_lemmas else []
    found = _evaluate(rows, rows_of(docs), sorted(metrics, key=METRICS.index))
    if "error" not in found and not any(doc.has_annotation("DEP") for doc in docs):
        found.update((metric, None) for metric in (*TREES, "MLAS", "BLEX") if metric in found)
    return found


def score_files(gold: Path, parse: Path) -> dict[str, Any]:
    """Score a CoNLL-U file as the CoNLL 2018 shared task did.

    Args:
        gold: The gold CoNLL-U file.
        parse: The parse of its text.

    Returns:
        F1 of all METRICS; or `error`, what the program objected to.

    Raises:
        ImportError: If udtools is not installed.
        ValueError: If one of the files is not CoNLL-U.
    """
    return _evaluate(read_rows(gold), read_rows(parse), METRICS)


def _evaluate(gold: list[Rows], parse: list[Rows], metrics: Iterable[str]) -> dict[str, Any]:
    require_udtools()
    from udtools import udeval

    options = {"multiple_roots_okay": True}
    try:
        sides = []
        for name, sentences in (("gold", gold), ("parse", parse)):
            lines = ("\n".join(map("\t".join, sentence)) + "\n\n" for sentence in sentences)
            sides.append(udeval.load_conllu(io.StringIO("".join(lines)), name, options))
        found = udeval.evaluate(*sides)
    except udeval.UDError as error:
        return {"error": str(error)}
    except RecursionError:
        return {"error": "A tree is too deep for the program, which climbs it by recursion."}
    return {metric: found[metric].f1 for metric in metrics}
