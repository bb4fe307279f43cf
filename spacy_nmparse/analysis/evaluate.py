"""Evaluation of trained pipelines on gold data: scores, speed, counts.

`uas_all` and `las_all` are the shares of gold words with the right head, and with the right head
and whole label; punctuation counts. `uas_words` and `las_words` leave out words whose gold part of
speech is PUNCT. The other scores are described in `spacy_nmparse.pipe.evaluation`.

From raw text the scores are those of the CoNLL 2018 evaluation (package udtools): F1 of tokens,
sentences, words, UAS, LAS (labels without subtypes) and CLAS over all words, so that a word that
the tokenizer splits otherwise than the gold data lowers precision and recall. The gold words are
those that multiword tokens are split into, where the data has these (`ud.extensions`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.pipe.annotations import copy_tags, same_tokens
from spacy_nmparse.pipe.evaluation import (
    score_dependencies,
    sentence_counts,
)
from spacy_nmparse.ud import conll18
from spacy_nmparse.ud.conllu_docs import conllu_to_docs
from spacy_nmparse.ud.corpus import CONLLU, gold_docs
from spacy_nmparse.ud.extensions import split_doc
from spacy_nmparse.ud.treebank import refuse_cycles, split_by


def read_docs(nlp: Language, path: Path) -> list[Doc]:
    """Read the gold documents, as ``gold_docs`` does, in the vocabulary of a pipeline. Multiword
    tokens of CoNLL-U that its tokenizer does not split into their words are one token."""
    return gold_docs(path, nlp.vocab, merge=split_by(nlp))


def references(docs: list[Doc], unit: str) -> Iterator[Doc]:
    """Give the gold documents in the unit to be parsed.

    Args:
        docs: The gold documents.
        unit: "sentence" (one document per gold sentence) or "doc" (as they are).

    Yields:
        The gold documents.
    """
    for doc in docs:
        yield from [doc] if unit == "doc" else split_doc(doc)


def blank_copy(nlp: Language, gold: Doc, tokens: str, sents: str, tags: str = "none") -> Doc:
    """Make the document that the pipeline will parse.

    Args:
        nlp: The pipeline.
        gold: The gold document.
        tokens: "gold", or "raw" for the pipeline's own tokenizer.
        sents: "gold" presets the gold sentence boundaries, "none" leaves them open.
        tags: "data" takes over tags and parts of speech, "none" does not.

    Returns:
        A document with the text of `gold` and no parse.

    Raises:
        ValueError: If boundaries or tags of the data are asked for on raw tokens.
    """
    if tokens == "raw":
        if sents == "gold" or tags == "data":
            raise ValueError(
                "Raw tokens (tokens) have no gold sentences (sents), and no tags (tags)."
            )
        return nlp.make_doc(gold.text)
    starts = [bool(token.is_sent_start) for token in gold] if sents == "gold" else None
    doc = same_tokens(gold, nlp.vocab, starts)
    if tags == "data":
        copy_tags(gold, doc)
    return doc


def evaluate(
    nlp: Language,
    path: Path,
    *,
    unit: str = "sentence",
    tokens: str = "gold",
    sents: str = "none",
    tags: str = "none",
    batch_size: int = 256,
    conllu: Path | Sequence[Path] | None = None,
) -> dict[str, Any]:
    """Parse a file and score the parses.

    Args:
        nlp: The pipeline.
        path: The gold .spacy or CoNLL-U file.
        unit: See `references`; or "text": the running text of the CoNLL-U file.
        tokens: See `blank_copy`.
        sents: See `blank_copy`.
        tags: See `blank_copy`.
        batch_size: Documents per batch.
        conllu: The CoNLL-U file, or its parts, that a .spacy file was made from. With gold tokens
            the parses are scored by the program of the CoNLL 2018 shared task too; with raw ones,
            which always are, its words are gold, instead of those of `path`.

    Returns:
        The settings, speed, scores, and and counts per sentence.

    Raises:
        ImportError: If the package udtools is needed and not installed.
        ValueError: If `conllu` does not hold the words of `path`.
    """
    sources = [conllu] if isinstance(conllu, Path) else list(conllu or ())
    if path.suffix in CONLLU and tokens == "raw":
        sources = sources or [path]
    if tokens == "raw" or sources:
        conll18.require_udtools()
    gold = _gold(nlp, path, unit, sources)
    blank = [blank_copy(nlp, doc, tokens, sents, tags) for doc in gold]
    list(nlp.pipe([blank_copy(nlp, doc, tokens, sents, tags) for doc in gold[:64]]))  # warm up
    start = time.perf_counter()
    parsed = list(nlp.pipe(blank, batch_size=batch_size))
    seconds = time.perf_counter() - start

    result = {
        "data": path.name,
        "unit": unit,
        "tokens": tokens,
        "sents": sents,
        "tags": tags,
        "words_per_second": round(sum(map(len, parsed)) / seconds, 1) if seconds else None,
        **score_parses(parsed, gold),
    }
    if tokens == "raw":
        result["conll18"] = conll18.score_text(sources or gold, parsed)
    elif sources:
        result["conll18"] = conll18.score_words(sources, parsed)
    return result


def _gold(nlp: Language, path: Path, unit: str, sources: Sequence[Path]) -> list[Doc]:
    """The gold documents, of CoNLL-U files where these are parsed as running text."""
    if unit != "text":
        return list(references(read_docs(nlp, path), unit))
    if path.suffix in CONLLU and not sources:
        raise ValueError(
            f"The running text (unit) of {path} has raw tokens only: --tokens raw is missing."
        )
    if not sources:
        raise ValueError("The running text (unit) is that of a CoNLL-U file: name it (conllu).")
    # Merged, multiword tokens have the letters of the text; their words may have others.
    read = partial(conllu_to_docs, vocab=nlp.vocab, merge=True, check=refuse_cycles)
    return [doc for one in sources for doc in read(one)]


def score_parses(parsed: list[Doc], gold: list[Doc]) -> dict[str, Any]:
    """Score parses.

    Args:
        parsed: The parsed documents.
        gold: The gold documents.

    Returns:
        The scores, and counts per sentence.
    """
    examples = [Example(pred, ref) for pred, ref in zip(parsed, gold, strict=True)]
    counts = [count for example in examples for count in sentence_counts(example)]
    words = sum(count.words for count in counts)
    scores: dict[str, Any] = {}
    for name, kind in (
        ("all", counts),
        ("words", [count for eg in examples for count in sentence_counts(eg, punctuation=False)]),
    ):
        total = sum(count.words for count in kind)
        scores[f"uas_{name}"] = sum(count.heads for count in kind) / total if total else None
        scores[f"las_{name}"] = sum(count.labelled for count in kind) / total if total else None
    scores.update(score_dependencies(examples))
    return {
        "n_sentences": len(counts),
        "n_words": words,
        "scores": scores,
        "per_sentence": {
            "words": [count.words for count in counts],
            "heads": [count.heads for count in counts],
            "labelled": [count.labelled for count in counts],
        },
    }
