"""What exhaustive search found."""

from __future__ import annotations

import re

from benchmarks.tables.common import Rows, figure, results, table

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
def _exhaustive() -> Rows:
    yield ["", "triples", "wrong"]
    for name, what in PROVEN.items():
        yield [what, *(f"{n:,}" for n in proven(name))]


@figure("exhaustive-total")
def _exhaustive_total() -> str:
    found = [proven(name) for name in PROVEN]
    return f"{sum(n for n, _ in found) / 1e6:.0f} million cases, {sum(n for _, n in found)} wrong"


LEFT, BOTH = "nonmonotonic_left", "nonmonotonic_left, nonmonotonic_reduce"
EVERY = "right_lower + right_raise + left_invert"
#: Sentences with one root, in a document: the options as printed, and in tables.
WHOLE, SHOWN = "single_root, segment", ", `single_root`, `segment`"
PARTIAL, FULL, CROSSING = "partial gold", "full gold", "crossing gold"
GOLDS = (FULL, PARTIAL, f"{PARTIAL}, preset starts")
#: What a table calls the options, the options as printed, the gold trees as printed, the words.
Pick = tuple[str, str, str, int]


def picked(first: str, *runs: tuple[str, list[Pick]]) -> Rows:
    """Make a table of lines of runs of tests.exhaustive. The column wrong is of costs."""
    yield [first, "gold", "words", "trees", "triples", "wrong"]
    for name, picks in runs:
        parts = results("exhaustive")[name]
        lines = {(row[0], row[1]): row for part in parts for row in part["rows"]}
        for what, options, gold, words in picks:
            kind = ", ".join(filter(None, (options, f"unlabelled, {gold}")))
            *_, trees, _, triples, costs, _ = lines[kind, words]
            shown = gold.replace(" gold", "").replace(", crossing", "")
            wrong = str(costs) if isinstance(costs, int) else costs.strip("()").split(": ")[1]
            trees = re.sub(r"\d+", lambda number: f"{int(number[0]):,}", trees)
            yield [what, shown, str(words), trees, f"{triples:,}", wrong]


@table("exhaustive-arc-eager", left=2)
def _exhaustive_arc_eager() -> Rows:
    plain = {
        "none (monotonic)": "",
        "`nonmonotonic_left` (L)": LEFT,
        "`nonmonotonic_reduce` (D)": "nonmonotonic_reduce",
        "both (L+D)": BOTH,
    }
    picks = [(what, options, PARTIAL, n) for what, options in plain.items() for n in (4, 5)]
    for gold, words in ((FULL, 4), *((gold, 5) for gold in GOLDS)):
        picks.append((f"L+D{SHOWN}", f"{BOTH}, {WHOLE}", gold, words))
    return picked("options", ("arc_eager", picks))


@table("exhaustive-crossing", left=2)
def _exhaustive_crossing() -> Rows:
    names = {
        "arc-eager": ("arc_eager", ""),
        "arc-eager, L+D": ("arc_eager", BOTH),
        "arc-hybrid": ("arc_hybrid", ""),
        "arc-swift": ("arc_swift", ""),
        "arc-standard": ("arc_standard", ""),
    }
    runs = []
    for what, (name, options) in names.items():
        whole = ", ".join(filter(None, (options, WHOLE)))
        picks = [(what, options, f"{gold}, {CROSSING}", 4) for gold in (FULL, PARTIAL)]
        picks.append((f"{what}{SHOWN}", whole, f"{PARTIAL}, {CROSSING}", 4))
        runs.append((f"{name}-crossing", picks))
    return picked("system", *runs)


@table("exhaustive-decoupled", left=2)
def _exhaustive_decoupled() -> Rows:
    every = f"{EVERY}, decoupled_repairs"
    picks = [
        ("L, all repairs", f"{LEFT}, {every}", PARTIAL, 4),
        ("L+D, all repairs", f"{BOTH}, {every}", PARTIAL, 4),
        *((f"L+D, all repairs{SHOWN}", f"{BOTH}, {every}, {WHOLE}", gold, 4) for gold in GOLDS),
    ]
    return picked("options", ("decoupled", picks))


@table("exhaustive-repairs", left=2)
def _exhaustive_repairs() -> Rows:
    picks = [
        *(("L, all repairs", f"{LEFT}, {EVERY}", PARTIAL, n) for n in (4, 5)),
        *(("L+D, all repairs", f"{BOTH}, {EVERY}", PARTIAL, n) for n in (4, 5)),
        *((f"L+D, `{one}`", f"{BOTH}, {one}", PARTIAL, 5) for one in EVERY.split(" + ")),
        *((f"L+D, all repairs{SHOWN}", f"{BOTH}, {EVERY}, {WHOLE}", gold, 5) for gold in GOLDS),
    ]
    return picked("options", ("repairs", picks))
