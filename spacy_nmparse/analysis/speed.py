"""How fast sentences of different lengths are parsed."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.analysis.tracing import parser_of
from spacy_nmparse.pipe.evaluation import bin_name, bin_names

BATCH = 256


def speed_by_length(
    nlp: Language, docs: Iterable[Doc], *, name: str | None = None, reps: int = 3
) -> list[dict[str, Any]]:
    """Words per second by length of the document: of the whole pipeline, and of the parser alone
    with token vectors at hand. The best of some repetitions.

    Args:
        nlp: a pipeline with a parser of this package.
        docs: documents, best of one sentence each; their words are parsed.
        name: which parser, where there are several.
        reps: repetitions.

    Returns:
        For each bin of lengths: length (its name), mean_length, documents, words, pipeline and
        parser (words per second).
    """
    parser = parser_of(nlp, name)
    groups: dict[str, list[Doc]] = defaultdict(list)
    for doc in docs:
        if len(doc):
            groups[bin_name(len(doc))].append(doc)
    found = []
    for length in bin_names():
        golds = groups.get(length, [])
        if not golds:
            continue
        words = sum(map(len, golds))
        whole, alone = [], []
        for _ in range(max(1, reps)):
            fresh = [Doc(nlp.vocab, words=[token.text for token in doc]) for doc in golds]
            start = time.perf_counter()
            done = list(nlp.pipe(fresh, batch_size=BATCH))
            whole.append(time.perf_counter() - start)
            start = time.perf_counter()
            for first in range(0, len(done), BATCH):
                parser.predict(done[first : first + BATCH])
            alone.append(time.perf_counter() - start)
        found.append(
            {
                "length": length,
                "mean_length": words / len(golds),
                "documents": len(golds),
                "words": words,
                "pipeline": words / min(whole),
                "parser": words / min(alone),
            }
        )
    return found
