"""Shared by tables and figures: reading summaries, and writing scores."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from benchmarks.common import RESULTS
from benchmarks.formats import mean_and_deviation, page_table
from benchmarks.summary import Entry, Pair
from benchmarks.titles import Difference, difference
from spacy_nmparse.analysis.significance import holm

Rows = Iterator[list[str]]
ENGLISH, GOTHIC = "UD_English-EWT", "UD_Gothic-PROIEL"
TURKISH, HUNGARIAN = "UD_Turkish-IMST", "UD_Hungarian-Szeged"
LATIN = "UD_Latin-UDante"
TREEBANKS = (ENGLISH, GOTHIC, TURKISH, HUNGARIAN)
DEMO = "turkish-treebanks"
STOCK, SPACY = "spacy_parser_multihash", "spacy_parser"
OWN = "nl_covington_parser"
BEAM4 = f"{OWN}_beam4"
#: The runs with as many epochs as configs have.
NM, SWAP, NL = (f"{name}_long" for name in ("nm_parser", "swap_parser", OWN))
SPACY_LONG, STOCK_LONG = f"{SPACY}_long", f"{STOCK}_long"
TAUGHT = f"{OWN}_taught"

#: What makes each table and figure.
TABLES: dict[str, Callable[[], str]] = {}


def figure(name: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Register what makes a figure under the name that pages call it."""

    def register(make: Callable[[], str]) -> Callable[[], str]:
        TABLES[name] = make
        return make

    return register


def table(name: str, left: int = 1) -> Callable[[Callable[[], Rows]], Callable[[], Rows]]:
    """Register what makes a table: the header and the rows. `left` columns are aligned to the left.
    A first cell that is the same as the one above is left out. Differences that are beyond chance
    are in bold."""

    def register(make: Callable[[], Rows]) -> Callable[[], Rows]:
        def text() -> str:
            header, *rows = make()
            return page_table(header, grouped(marked(rows)), left)

        TABLES[name] = text
        return make

    return register


@cache
def results(benchmark: str) -> dict[str, Any]:
    """Read the summary of a benchmark."""
    found: dict[str, Any] = json.loads((RESULTS / f"{benchmark}.json").read_text(encoding="utf-8"))
    return found


def entry(treebank: str, system: str, benchmark: str = "accuracy") -> Entry | None:
    """The summary of a system on a treebank; None if there is none."""
    found: Entry | None = results(benchmark)["systems"].get(treebank, {}).get(system)
    return found


def comparison(
    treebank: str,
    system: str,
    baseline: str,
    metric: str = "las_all",
    split: str = "test",
    benchmark: str = "accuracy",
) -> dict[str, Any]:
    """Find the comparison of two systems; a ValueError if there is none."""
    key = Pair(system, baseline, split, metric).key
    found: dict[str, Any] | None = results(benchmark)["comparisons"].get(treebank, {}).get(key)
    if found is None:
        raise ValueError(
            f"benchmarks/results/{benchmark}.json has no {key} on {treebank}: make runs of "
            f"both, and summarize them by `python -m benchmarks.report {benchmark}`."
        )
    return found


def lead(treebank: str, system: str, baseline: str, *, briefly: bool = False) -> str:
    """Write by how much LAS on test a system is ahead of another: with interval and p, over the
    seeds that both have, if not `briefly`, where sentences were compared, else of the means; empty
    where one of the two has no score."""
    key = Pair(system, baseline, "test", "las_all").key
    found = results("accuracy")["comparisons"].get(treebank, {}).get(key)
    if found is not None and not briefly:
        return difference(found)
    pair = [entry(treebank, name) for name in (system, baseline)]
    means = [raw_mean(one, "las_all") for one in pair if one is not None]
    return f"{means[0] - means[1]:+.2f}" if len(means) == 2 else ""


def score(one: Entry | None, metric: str, split: str = "test") -> str:
    """Write a score of a system's summary: mean ± standard deviation, in points; empty where there
    is none."""
    if one is None or metric not in one.get(split, {}):
        return ""
    return mean_and_deviation(one[split][metric]["seeds"], 100, 2)


def mean(
    one: Entry,
    metric: str,
    split: str = "test",
    digits: int = 2,
    only: Iterable[int] | None = None,
) -> str:
    """Write the mean of a score of a system's summary in points, over these seeds alone or all."""
    return f"{raw_mean(one, metric, split, only):.{digits}f}"


def raw_mean(
    one: Entry, metric: str, split: str = "test", only: Iterable[int] | None = None
) -> float:
    """Compute a mean; arguments as those of `mean`."""
    values = dict(zip(one["seeds"], one[split][metric]["seeds"], strict=True))
    chosen = [values[seed] for seed in (values if only is None else only)]
    return statistics.fmean(100 * value for value in chosen if value is not None)


def marked(rows: Iterable[list[str]]) -> list[list[str]]:
    """Mark the differences that are beyond chance among all those of a table."""
    listed = list(rows)
    tested = [cell for row in listed for cell in row if isinstance(cell, Difference)]
    passed = iter(holm([cell.p for cell in tested]))
    return [
        [cell.marked() if isinstance(cell, Difference) and next(passed) else cell for cell in row]
        for row in listed
    ]


def grouped(rows: Iterable[list[str]]) -> list[list[str]]:
    """Leave out a first cell that is the same as the one above."""
    listed = [[""], *rows]
    return [
        ["" if below[0] == above[0] else below[0], *below[1:]] for above, below in pairwise(listed)
    ]
