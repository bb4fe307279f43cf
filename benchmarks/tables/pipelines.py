"""Whole pipelines, from raw text."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.summary import Entry
from benchmarks.tables.common import (
    ENGLISH,
    GOTHIC,
    HUNGARIAN,
    TREEBANKS,
    TURKISH,
    Rows,
    entry,
    score,
    table,
)
from benchmarks.titles import seeds, short

TITLES = {
    "nl_covington_parser": "this package",
    "spacy_pipeline": "spaCy's components",
    "udpipe": "UDPipe 1",
}
UDPIPE, STANZA = "UDPipe 1.2, published (UD 2.5)", "Stanza 1.5.1, published (UD 2.12)"
#: The metrics of tables, and what others have published, on other releases of the treebanks.
COLUMNS = ("Words", "Sentences", "UPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS", "BLEX")
PUBLISHED = {
    ENGLISH: {
        UDPIPE: (98.9, 77.4, 93.3, 94.2, 95.5, 80.2, 77.0, 67.7, 69.5),
        STANZA: (98.9, 89.2, 96.2, 96.4, 96.6, 88.9, 86.8, 80.3, 81.5),
    },
    GOTHIC: {
        UDPIPE: (100.0, 31.1, 94.3, 87.4, 92.6, 68.6, 62.0, 48.8, 54.6),
        STANZA: (100.0, 40.3, 96.1, 90.4, 96.1, 79.3, 72.9, 60.6, 65.2),
    },
    HUNGARIAN: {
        UDPIPE: (99.8, 95.9, 90.6, 88.1, 88.5, 72.8, 67.2, 53.7, 57.9),
        STANZA: (99.9, 97.2, 95.8, 93.5, 93.8, 83.6, 78.6, 68.2, 70.8),
    },
    TURKISH: {
        UDPIPE: (98.3, 97.0, 91.6, 88.5, 90.0, 62.2, 55.1, 45.2, 46.7),
        STANZA: (97.8, 98.2, 93.4, 91.1, 95.6, 73.4, 64.1, 54.7, 59.5),
    },
}


def measured(treebank: str) -> Iterator[tuple[str, Entry]]:
    """What has runs on a treebank: what tables call it, and its summary."""
    for name, title in TITLES.items():
        if one := entry(treebank, name, "pipelines"):
            yield title, one


@table("pipelines", left=2)
def _pipelines() -> Rows:
    yield ["treebank", "", "seeds", *COLUMNS]
    for treebank in TREEBANKS:
        found = list(measured(treebank))
        for title, one in found:
            yield [short(treebank), title, seeds(one["seeds"]), *(score(one, m) for m in COLUMNS)]
        for title, values in PUBLISHED[treebank].items() if found else ():
            yield [short(treebank), title, "", *(f"{value:.1f}" for value in values)]


@table("pipelines-cost", left=2)
def _cost() -> Rows:
    yield ["treebank", "", "words a second", "MB", "minutes of training"]
    for treebank in TREEBANKS:
        for title, one in measured(treebank):
            rate, size = one["test"]["words_per_second"]["mean"], one["bytes"]["mean"]
            cells = [f"{rate:.0f}", f"{size / 1e6:.1f}"]
            minutes = one["training_seconds"]["mean"] / 60
            yield [short(treebank), title, *cells, f"{minutes:.1f}"]
