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
    figure,
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
#: The same of treebanks on which nothing was chosen, without MLAS and BLEX; None: not published.
UNTUNED: dict[str, dict[str, tuple[float | None, ...]]] = {
    "UD_Coptic-Scriptorium": {
        UDPIPE: (70.7, 27.7, 67.1, 50.2, 68.7, 43.8, 41.8),
        STANZA: (88.6, 34.1, 85.8, 86.4, 86.0, 66.4, 64.4),
    },
    "UD_Czech-CLTT": {
        UDPIPE: (99.7, 97.4, 97.3, 87.4, 96.1, 78.9, 75.4),
        STANZA: (99.2, 98.2, 97.4, 88.2, 95.8, 83.5, 79.7),
    },
    "UD_French-Sequoia": {
        UDPIPE: (99.1, 87.5, 96.1, 95.0, 96.9, 84.8, 82.1),
        STANZA: (99.6, 87.5, 98.8, 97.9, 98.5, 93.2, 91.6),
    },
    "UD_Maltese-MUDT": {
        UDPIPE: (99.8, 86.3, 93.8, None, None, 77.7, 71.8),
        STANZA: (99.8, 85.3, 95.7, 99.8, 99.8, 83.6, 78.2),
    },
    "UD_Tamil-TTB": {
        UDPIPE: (94.5, 97.5, 81.3, 80.5, 84.1, 58.9, 52.0),
        STANZA: (89.6, 98.7, 78.5, 79.6, 82.5, 58.4, 51.0),
    },
    "UD_Uyghur-UDT": {
        UDPIPE: (99.5, 81.9, 87.7, 84.0, 91.7, 70.6, 56.7),
        STANZA: (99.4, 84.7, 89.3, 87.6, 95.3, 74.8, 63.4),
    },
    "UD_Vietnamese-VTB": {
        UDPIPE: (85.4, 93.5, 76.4, 85.0, 84.5, 45.8, 40.6),
        STANZA: (88.0, 99.2, 81.5, 88.0, 81.7, 58.8, 51.5),
    },
    "UD_Wolof-WTB": {
        UDPIPE: (99.2, 92.0, 91.7, 91.0, 93.2, 77.0, 70.9),
        STANZA: (99.3, 94.3, 94.4, 93.2, 94.6, 83.3, 77.3),
    },
}
#: Errors on the test texts of these have changed the package.
SEEN = {"UD_Czech-CLTT", "UD_Maltese-MUDT", "UD_Tamil-TTB", "UD_Vietnamese-VTB"}


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


@table("pipelines-untuned", left=2)
def _untuned() -> Rows:
    columns = COLUMNS[: len(next(iter(UNTUNED.values()))[UDPIPE])]
    yield ["treebank", "", *columns, "words a second", "minutes of training"]
    for treebank, published in UNTUNED.items():
        found = list(measured(treebank))
        for title, one in found:
            scores = [score(one, metric) for metric in columns]
            rate, minutes = one["test"]["words_per_second"]["mean"], one["training_seconds"]["mean"]
            yield [short(treebank), title, *scores, f"{rate:.0f}", f"{minutes / 60:.1f}"]
        for title, values in published.items() if found else ():
            cells = ["" if value is None else f"{value:.1f}" for value in values]
            yield [short(treebank), title, *cells, "", ""]


@figure("untuned")
def _ahead() -> str:
    """On how many treebanks LAS from raw text is above what others have published."""
    las = {name: one["test"]["LAS"]["mean"] for name in UNTUNED for _, one in measured(name)}
    place = COLUMNS.index("LAS")

    def ahead(title: str, names: set[str]) -> int:
        return sum(100 * las[name] > (UNTUNED[name][title][place] or 0) for name in names)

    every, unseen = set(las), las.keys() - SEEN
    return (
        f"{ahead(UDPIPE, every)} of {len(every)}, of Stanza's on {ahead(STANZA, every)} (of the "
        f"{len(unseen)} whose test texts nobody had looked at: {ahead(UDPIPE, unseen)} and "
        f"{ahead(STANZA, unseen)})"
    )


@table("pipelines-cost", left=2)
def _cost() -> Rows:
    yield ["treebank", "", "words a second", "MB", "minutes of training"]
    for treebank in TREEBANKS:
        for title, one in measured(treebank):
            rate, size = one["test"]["words_per_second"]["mean"], one["bytes"]["mean"]
            cells = [f"{rate:.0f}", f"{size / 1e6:.1f}"]
            minutes = one["training_seconds"]["mean"] / 60
            yield [short(treebank), title, *cells, f"{minutes:.1f}"]
