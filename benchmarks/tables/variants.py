"""Variants of the papers' systems."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from benchmarks import variants
from benchmarks.formats import page_table
from benchmarks.tables.common import (
    DEMO,
    ENGLISH,
    GOTHIC,
    HUNGARIAN,
    TURKISH,
    comparison,
    entry,
    grouped,
    results,
    score,
    table,
)
from benchmarks.titles import difference, short


def comparison_of_variants(name: str) -> Callable[[], str]:
    """Make what makes the tables of a comparison of benchmarks.variants."""
    return lambda: variants.report(results("variants"), name)


for _name in ("rep", "hgj13", "push", "recall"):
    table(f"variants-{_name}")(comparison_of_variants(_name))


@table("non-monotonic-moves")
def _non_monotonic_moves() -> str:
    rows = []
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH):
        names = ("left_reduce", "monotonic")
        found = comparison(treebank, *names, metric="uas_all", split="dev", benchmark="variants")
        cells = [
            score(entry(treebank, name, "variants"), "uas_all", "dev") for name in reversed(names)
        ]
        rows.append([short(treebank), *cells, difference(found)])
    return page_table(["treebank", "monotonic", "non-monotonic", "difference"], rows)


LISTS = {
    "covington_static": "Covington, static",
    "covington": "Covington, dynamic",
    "nl_covington_static": "NL-Covington, static",
    "nl_covington": "NL-Covington, dynamic",
}


def _list_system(treebank: str, name: str, what: str) -> list[str]:
    one = entry(treebank, name, "variants")
    assert one is not None
    moves = f"{statistics.fmean(one['moves']['per_sentence']['seeds']):.1f}"
    return [short(treebank), what, score(one, "uas_all"), score(one, "las_all"), moves]


def _against(treebank: str, name: str, baseline: str) -> str:
    return difference(comparison(treebank, name, baseline, benchmark="variants"))


@table("fg18-oracles")
def _fg18_oracles() -> str:
    rows = []
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, DEMO):
        for name, what in LISTS.items():
            static = "" if "static" in name else _against(treebank, name, f"{name}_static")
            local = _against(treebank, name, name.removeprefix("nl_")) if "nl_" in name else ""
            rows.append([*_list_system(treebank, name, what), static, local])
    header = ["treebank", "", "UAS", "LAS", "moves a sentence", "against static"]
    return page_table([*header, "against Covington"], grouped(rows), left=2)


@table("fg18-arc-swift")
def _fg18_arc_swift() -> str:
    rows = []
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, DEMO):
        rows.append([*_list_system(treebank, "arc_swift", "arc-swift"), ""])
        own = _list_system(treebank, "nl_covington", LISTS["nl_covington"])
        rows.append([*own, _against(treebank, "nl_covington", "arc_swift")])
    header = ["treebank", "", "UAS", "LAS", "moves a sentence", "against arc-swift"]
    return page_table(header, grouped(rows), left=2)
