"""Variants of the papers' systems."""

from __future__ import annotations

import statistics
from functools import partial

from benchmarks.formats import page_table
from benchmarks.papers import VARIANTS
from benchmarks.tables.common import (
    DEMO,
    ENGLISH,
    GOTHIC,
    HUNGARIAN,
    TREEBANKS,
    TURKISH,
    comparison,
    entry,
    grouped,
    score,
    table,
)
from benchmarks.titles import difference, short


def treebanks_of(name: str) -> list[str]:
    """Find the treebanks that have results of a comparison of benchmarks.variants, and not just of
    rows that it shares with others."""
    others = {one.name for key, rows in VARIANTS.items() if key != name for one in rows}
    own = [one.name for one in VARIANTS[name] if one.name not in others]
    return [one for one in TREEBANKS if any(entry(one, row, "variants") for row in own)]


def differences(name: str) -> str:
    """Make the table of a comparison: UAS on dev, on each treebank against the first row."""
    listed = VARIANTS[name]
    treebanks = treebanks_of(name)
    rows = []
    for one in listed:
        row = [one.title]
        for treebank in treebanks:
            found = entry(treebank, one.name, "variants")
            if found is None:
                row.append("")
            elif one is listed[0]:
                row.append(score(found, "uas_all", "dev"))
            else:
                pair = (one.name, listed[0].name, "uas_all", "dev", "variants")
                row.append(difference(comparison(treebank, *pair)))
        rows.append(row)
    return page_table(["UAS", *map(short, treebanks)], rows)


for _name in ("rep", "hgj13", "push", "recall"):
    table(f"variants-{_name}")(partial(differences, _name))


@table("repairs-made")
def _repairs_made() -> str:
    treebanks = treebanks_of("rep")
    rows = []
    for one in VARIANTS["rep"][1:]:
        found = {treebank: entry(treebank, one.name, "variants") for treebank in treebanks}
        moves = {move for each in found.values() if each for move in each["moves"]["repairs"]}
        for move in sorted(moves - {"REDUCE"}):
            row = [one.title, move]
            for each in found.values():
                assert each is not None
                total = each["moves"]["repairs"][move]
                made = total["tp"] + total["neutral"] + total["fp"]
                row.append(f"{made / each['moves']['seeds']:,.0f}")
                row += [f"{100 * total['tp'] / n:.0f}" for n in (made, total["tp"] + total["fn"])]
            rows.append(row)
    header = [f"{short(one)}: made" for one in treebanks]
    columns = [cell for one in header for cell in (one, "precision", "recall")]
    return page_table(["", "move", *columns], grouped(rows), left=2)


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
