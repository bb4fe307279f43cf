"""Repair transitions with the learner and the features of the draft."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchmarks.formats import page_table
from benchmarks.papers import VARIANTS
from benchmarks.summary import COUNTS, Entry
from benchmarks.tables.common import HUNGARIAN, comparison, entry, grouped, score, table
from benchmarks.titles import difference


def _trained() -> Iterator[tuple[str, str, str, Entry]]:
    """The rows that have runs: name, features, what the row is called, summary."""
    for variant in VARIANTS["rep_linear"]:
        one = entry(HUNGARIAN, variant.name, "variants")
        if one is not None:
            yield variant.name, variant.name.split("_")[1], variant.title, one


@table("rep-linear-iterations")
def _iterations() -> str:
    rows, numbers = [], []
    for _, features, what, one in _trained():
        numbers = sorted(map(int, one["uas_by_epoch"]))
        means = [statistics.fmean(one["uas_by_epoch"][str(number)]) for number in numbers]
        rows.append([features, what, str(len(one["seeds"])), *(f"{uas:.2f}" for uas in means)])
    header = ["features", "", "seeds", *(str(number - 1) for number in numbers)]
    return page_table(header, grouped(rows), left=2)


@table("rep-linear")
def _accuracy() -> str:
    rows = []
    for name, features, what, one in _trained():
        row = [features, what, str(len(one["seeds"]))]
        base = f"logistic_{features}_monotonic"
        if name == base:
            base = "logistic_plain_monotonic"
        for split in ("dev", "test"):
            row += [score(one, metric, split) for metric in ("uas_all", "las_all")]
            against = ""
            if name != base:
                found = comparison(HUNGARIAN, name, base, "uas_all", split, "variants")
                against = difference(found)
            row.append(against)
        rows.append(row)
    header = ["features", "", "seeds"]
    for split in ("dev", "test"):
        header += [f"UAS, {split}", "LAS", "UAS against arc-eager"]
    return page_table(header, grouped(rows), left=2)


@table("rep-linear-moves")
def _moves() -> str:
    rows = []
    for name, features, what, one in _trained():
        if "all_repairs" not in name or features != "additional":
            continue
        for move, total in one["moves"]["repairs"].items():
            if move == "REDUCE":
                continue
            seeds = one["moves"]["seeds"]
            rows.append([what, move, *(f"{total[count] / seeds:,.0f}" for count in COUNTS)])
    header = ["", "move", *map(str.upper, COUNTS[:4]), *COUNTS[4:]]
    return page_table(header, grouped(rows), left=2)
