"""What exhaustive search found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmarks.formats import page_table
from benchmarks.tables.common import Rows, grouped, results, table

PROVEN = {
    "arc_eager": "arc-eager, up to 5 words, projective gold",
    "repairs": "the same with repairs, Unshift or one kind of push",
    "decoupled": "the same with decoupled repairs, up to 4 words",
    "arc_standard": "arc-standard, up to 5 words, projective gold",
    "root_first": "arc-eager with `root_first`, up to 5 words, projective gold",
    "buffer_arcs": "arc-standard with `buffer_arcs`, up to 5 words, projective gold",
    "arc_hybrid": "arc-hybrid, up to 5 words, projective gold",
    "arc_swift": "arc-swift, up to 5 words, projective gold",
    "arc_eager-crossing": "arc-eager, up to 5 words, all trees",
    "arc_standard-crossing": "arc-standard, up to 5 words, all trees",
    "arc_hybrid-crossing": "arc-hybrid, up to 4 words, all trees",
    "arc_swift-crossing": "arc-swift, up to 4 words, all trees",
    "two_planar": "2-planar, up to 4 words, all trees",
    "nl_covington": "NL-Covington, up to 4 words, all trees",
    "nl_covington-5": "NL-Covington, 5 words, trees drawn from all",
    "covington": "Covington, up to 4 words, all trees",
    "covington-5": "Covington, 5 words, trees drawn from all",
}


def proven(name: str) -> tuple[int, int]:
    """Of a run of tests.exhaustive, the triples of tree, configuration and action where exactness
    is claimed, and how many of their costs and losses are wrong."""
    triples = wrong = 0
    for part in results("exhaustive")[name]:
        for _, words, _, _, count, costs, losses in part["rows"]:
            # of 6 words, trees were drawn to see how often costs are wrong
            if isinstance(costs, int) and words < 6:
                triples += count
                wrong += costs + losses
    return triples, wrong


@table("exhaustive")
def _exhaustive() -> str:
    rows = [[what, *(f"{n:,}" for n in proven(name))] for name, what in PROVEN.items()]
    return page_table(["", "triples", "wrong"], rows)


@table("exhaustive-total")
def _exhaustive_total() -> str:
    found = [proven(name) for name in PROVEN]
    return f"{sum(n for n, _ in found) / 1e6:.0f} million cases, {sum(n for _, n in found)} wrong"


def picked(name: str, picks: Sequence[tuple[str, str, str, int]]) -> Rows:
    """Find lines of a run of tests.exhaustive. A pick is what the table calls the options, the
    options as printed, the gold trees as printed, and the words. The cells: options, gold, words,
    trees, triples, wrong costs, wrong losses."""
    lines = {(row[0], row[1]): row for part in results("exhaustive")[name] for row in part["rows"]}
    rows = []
    for what, options, gold, words in picks:
        kind = ", ".join(filter(None, (options, f"unlabelled, {gold}")))
        *_, trees, _, triples, costs, losses = lines[kind, words]
        shown = gold.replace(" gold", "").replace(", crossing", "")
        wrong = [
            str(n) if isinstance(n, int) else n.strip("()").split(": ")[1] for n in (costs, losses)
        ]
        trees = re.sub(r"\d+", lambda number: f"{int(number[0]):,}", trees)
        rows.append([what, shown, str(words), trees, f"{triples:,}", *wrong])
    return grouped(rows)


@table("exhaustive-arc-eager")
def _exhaustive_arc_eager() -> str:
    plain = {
        "none (monotonic)": "",
        "`nonmonotonic_left` (L)": "nonmonotonic_left",
        "`nonmonotonic_reduce` (D)": "nonmonotonic_reduce",
        "both (L+D)": "nonmonotonic_left, nonmonotonic_reduce",
    }
    picks = [(what, o, "partial gold", n) for what, o in plain.items() for n in (4, 5)]
    whole = "nonmonotonic_left, nonmonotonic_reduce, single_root, segment"
    for gold, words in (
        ("full gold", 4),
        ("full gold", 5),
        ("partial gold", 5),
        ("partial gold, preset starts", 5),
    ):
        picks.append(("L+D, `single_root`, `segment`", whole, gold, words))
    rows = [row[:6] for row in picked("arc_eager", picks)]
    return page_table(["options", "gold", "words", "trees", "triples", "wrong"], rows, left=2)


@table("exhaustive-crossing")
def _exhaustive_crossing() -> str:
    both = "nonmonotonic_left, nonmonotonic_reduce"
    names = {
        "arc-eager": ("arc_eager", ""),
        "arc-eager, L+D": ("arc_eager", both),
        "arc-hybrid": ("arc_hybrid", ""),
        "arc-swift": ("arc_swift", ""),
        "arc-standard": ("arc_standard", ""),
    }
    rows: Rows = []
    for what, (name, options) in names.items():
        whole = ", ".join(filter(None, (options, "single_root, segment")))
        picks = [
            (what, options, "full gold, crossing gold", 4),
            (what, options, "partial gold, crossing gold", 4),
            (f"{what}, `single_root`, `segment`", whole, "partial gold, crossing gold", 4),
        ]
        rows += [row[:6] for row in picked(f"{name}-crossing", picks)]
    return page_table(["system", "gold", "words", "trees", "triples", "wrong"], rows, left=2)


@table("exhaustive-decoupled")
def _exhaustive_decoupled() -> str:
    left, both = "nonmonotonic_left", "nonmonotonic_left, nonmonotonic_reduce"
    every = "right_lower + right_raise + left_invert, decoupled_repairs"
    picks = [
        ("L, all repairs", f"{left}, {every}", "partial gold", 4),
        ("L+D, all repairs", f"{both}, {every}", "partial gold", 4),
    ]
    whole = f"{both}, {every}, single_root, segment"
    for gold in ("full gold", "partial gold", "partial gold, preset starts"):
        picks.append(("L+D, all repairs, `single_root`, `segment`", whole, gold, 4))
    rows = [row[:6] for row in picked("decoupled", picks)]
    return page_table(["options", "gold", "words", "trees", "triples", "wrong"], rows, left=2)


@table("exhaustive-repairs")
def _exhaustive_repairs() -> str:
    left, both = "nonmonotonic_left", "nonmonotonic_left, nonmonotonic_reduce"
    every = "right_lower + right_raise + left_invert"
    picks = [
        ("L, all repairs", f"{left}, {every}", "partial gold", 4),
        ("L, all repairs", f"{left}, {every}", "partial gold", 5),
        ("L+D, all repairs", f"{both}, {every}", "partial gold", 4),
        ("L+D, all repairs", f"{both}, {every}", "partial gold", 5),
    ]
    picks += [(f"L+D, `{one}`", f"{both}, {one}", "partial gold", 5) for one in every.split(" + ")]
    whole = f"{both}, {every}, single_root, segment"
    for gold in ("full gold", "partial gold", "partial gold, preset starts"):
        picks.append(("L+D, all repairs, `single_root`, `segment`", whole, gold, 5))
    rows = [row[:6] for row in picked("repairs", picks)]
    return page_table(["options", "gold", "words", "trees", "triples", "wrong"], rows, left=2)
