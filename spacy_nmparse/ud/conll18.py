"""Scores by the program that evaluated the CoNLL 2018 shared task, as udtools ships it.

Parses of the gold words (`score_words`) are written into the gold CoNLL-U file in place of heads
and labels, so that words, multiword tokens and the text are the treebank's own. Parses of the text
(`score_text`) have the tokenizer's words, which the program aligns with the gold words by their
place in the text: all words count on both sides. Enhanced dependencies and empty nodes are left
out. Labels count with their case, as in the program.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from spacy_nmparse.pipe.roots import TREEBANK_ROOT, root_label
from spacy_nmparse.ud import conllu
from spacy_nmparse.ud.conllu import DEPREL, DEPS, EMPTY, FORM, HEAD, ID, MISC, XPOS
from spacy_nmparse.ud.docs_conllu import document_rows

Rows = list[list[str]]
#: What is scored: CoNLL-U files, or documents.
Side = str | Path | Sequence[Path] | Sequence[Doc]
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
        rows = [row[: MISC + 1] for row in sentence.rows if "." not in row[ID]]
        for row in rows:
            row[DEPS] = EMPTY
        sentences.append(rows)
    return sentences


def put_in(gold: list[Rows], docs: Iterable[Doc]) -> list[Rows]:
    """Put parses in place of the gold ones; where a parse has more sentences, so has the result,
    but those that part in a multiword token are one.

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
    filled: Rows = []
    before = 0  # words of `filled` before a sentence
    open_words = 0  # words of the multiword token that are still to come
    for sent in (sent for doc in docs for sent in doc.sents):
        word = 0
        while word < len(sent):
            if place == len(rows):
                raise ValueError("The parse has more words than the CoNLL-U file.")
            row = list(rows[place])
            place += 1
            filled.append(row)
            if "-" in row[ID]:
                first, _, last = row[ID].partition("-")
                open_words = int(last) - int(first) + 1
                row[ID] = f"{before + word + 1}-{before + word + open_words}"
                continue
            token = sent[word]
            word += 1
            open_words = max(0, open_words - 1)
            if "".join(token.text.split()) != "".join(row[1].split()):
                raise ValueError(
                    f"The parse has {token.text!r} where the CoNLL-U file has {row[1]!r}."
                )
            is_root = token.head.i == token.i
            row[ID] = str(before + word)
            row[HEAD] = "0" if is_root else str(before + token.head.i - sent.start + 1)
            row[DEPREL] = _as_usual(root_label(token)) if is_root else token.dep_
        before += word
        if not open_words:
            sentences.append(filled)
            filled, before = [], 0
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
    for rows in document_rows(doc):
        for row in rows:
            row[FORM] = "".join(row[FORM].split())
            if row[ID].isdecimal() and row[HEAD] == EMPTY:
                row[HEAD] = "0"
            elif row[HEAD] == "0":
                row[DEPREL] = _as_usual(row[DEPREL])
        yield rows


def _as_usual(label: str) -> str:
    """The label of a root, whatever its case; without one, it is ``root``."""
    return TREEBANK_ROOT if label == EMPTY or label.lower() == TREEBANK_ROOT else label


def _as_documents_have_it(sentences: list[Rows]) -> list[Rows]:
    """Rows of a file with what a document cannot tell apart made alike: whitespace in words, how
    the label of a root is written, a missing label."""
    for row in (row for sentence in sentences for row in sentence):
        row[FORM] = "".join(row[FORM].split())
        if row[HEAD] == "0":
            row[DEPREL] = _as_usual(row[DEPREL])
        elif row[DEPREL] == EMPTY and row[ID].isdecimal():
            row[DEPREL] = "dep"
    return sentences


def score_words(gold: Path | Sequence[Path], docs: Iterable[Doc]) -> dict[str, Any]:
    """Score parses of the gold words as the CoNLL 2018 shared task did.

    Args:
        gold: The gold CoNLL-U file, or its parts.
        docs: The parses of its words, in its order.

    Returns:
        F1 of UAS, LAS and CLAS; or `error`, what the program objected to.

    Raises:
        ImportError: If udtools is not installed.
        ValueError: If the words are not those of the gold file.
    """
    paths = [gold] if isinstance(gold, Path) else gold
    rows = _as_documents_have_it([rows for path in paths for rows in read_rows(path)])
    return _evaluate(rows, put_in(rows, docs), TREES)


def score_text(gold: Side, system: Side) -> dict[str, Any]:
    """Score parses of plain text as the CoNLL 2018 shared task did.

    Args:
        gold: The gold CoNLL-U file, or several; or the gold documents. The gold words are those
            that multiword tokens are split into, as in the shared task: documents have them in
            `spacy_nmparse.ud.extensions`.
        system: The parses of the same text, in the same order, with any tokens: files or documents.

    Returns:
        F1 of METRICS. If `system` are documents: of Tokens, Sentences, Words, UAS, LAS and CLAS,
        the last three None where nothing was parsed; where they have tags or lemmas, of these too,
        of MLAS and of BLEX. XPOS is None where `gold` has none. Or `error`, what the program
        objected to.

    Raises:
        ImportError: If udtools is not installed.
        OSError: If a file cannot be read.
        ValueError: If a file is not CoNLL-U.
    """
    (gold_files, gold_docs), (files, docs) = map(_files_or_docs, (gold, system))
    if not all(token.dep or token.text.isspace() for doc in gold_docs for token in doc):
        return {"error": "The gold data have words without a head and label."}
    gold_rows = [rows for path in gold_files for rows in read_rows(path)]
    rows = [rows for path in files for rows in read_rows(path)]
    if docs:
        gold_rows = _as_documents_have_it(gold_rows)
    if gold_docs:
        rows = _as_documents_have_it(rows)
    gold_rows += rows_of(gold_docs)
    if files:
        return _evaluate(gold_rows, rows, METRICS)
    metrics = [*TEXT, *TREES]
    if any(doc.has_annotation("POS") for doc in docs):
        metrics += [*TAGS, "MLAS"]
    if any(doc.has_annotation("LEMMA") for doc in docs):
        metrics += ["Lemmas", "BLEX"]
    found = _evaluate(gold_rows, rows_of(docs), sorted(metrics, key=METRICS.index))
    if "error" not in found and not any(doc.has_annotation("DEP") for doc in docs):
        found.update((metric, None) for metric in (*TREES, "MLAS", "BLEX") if metric in found)
    if "XPOS" in found and all(row[XPOS] == EMPTY for rows in gold_rows for row in rows):
        found["XPOS"] = None
    return found


def _files_or_docs(side: Side) -> tuple[list[Path], list[Doc]]:
    items = [Path(side)] if isinstance(side, str | Path) else list(side)
    return (
        [one for one in items if isinstance(one, Path)],
        [one for one in items if isinstance(one, Doc)],
    )


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
