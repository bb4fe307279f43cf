"""Sentence boundaries, search, and counts of transitions, SWAPs and losses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.tables.common import (
    DEMO,
    ENGLISH,
    GOTHIC,
    HUNGARIAN,
    LATIN,
    TURKISH,
    Rows,
    results,
    table,
)
from benchmarks.titles import short

SEARCHED = ("nm_parser", "swap_parser", "nl_covington_parser")


@table("confidences", left=2)
def _confidences() -> Rows:
    yield ["treebank", "parser", "error", "calibrated", "AUC", "LAS by fifths"]
    for treebank, names in ((GOTHIC, SEARCHED), (ENGLISH, ("nm_parser", "nl_covington_parser"))):
        for name in names:
            run = results("search")[f"confidence-{name}-{short(treebank).split('-')[0].lower()}"]
            for width in (one for one in run["widths"] if one["width"] == 1):
                head = width["head"]
                row = [short(treebank), f"`{name}`"]
                row += [f"{head[f'error_{when}']:.3f}" for when in ("before", "after")]
                row.append(f"{head['area_under_curve']:.2f}")
                yield [*row, ", ".join(f"{100 * las:.0f}" for las in width["las_by_least_sure"])]


def counted(benchmark: str, split: str, *more: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What was counted in the treebanks, and in those that are named: what tables call each, and
    the counts."""
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, *more):
        name = "the demo's (`demo-counts`)" if treebank == DEMO else short(treebank)
        yield name, results(benchmark)[f"{treebank}-{split}"]


@table("transitions")
def _transitions() -> Rows:
    yield ["treebank", "words", "Covington", "NL-Covington", "SwapStandard"]
    for name, counts in counted("transitions", "test", DEMO):
        systems = ("covington", "nl_covington", "swap_standard")
        moves = [f"{counts[system]['per_sentence']:.2f}" for system in systems]
        yield [name, f"{counts['words'] / counts['sentences']:.1f}", *moves]


@table("fg18-transitions")
def _fg18_transitions() -> Rows:
    yield ["treebank", "Covington", "NL-Covington", "fewer"]
    for name, counts in counted("transitions", "test", DEMO):
        covington, nl = (counts[system]["per_sentence"] for system in ("covington", "nl_covington"))
        yield [name, f"{covington:.2f}", f"{nl:.2f}", f"{100 * (1 - nl / covington):.0f} %"]


@table("swaps")
def _swaps() -> Rows:
    header = ["", "sentences", "projective", "SWAPs: `eager`", "`lazy` saves", "`minimal` saves"]
    yield [*header, "not proven", "one derivation"]
    for name, counts in counted("swaps", "train", LATIN, DEMO):
        total, swaps = counts["sentences"], counts["swaps"]
        row = [name, f"{total:,}", f"{100 * counts['projective'] / total:.2f} %"]
        row.append(f"{swaps['eager']:,}")
        for oracle in ("lazy", "minimal"):
            row.append(f"{100 * (1 - swaps[oracle] / swaps['eager']):.1f} %")
        yield [*row, str(counts["not_proven"]), f"{100 * counts['unique'] / total:.2f} %"]


@table("repair-losses")
def _repair_losses() -> Rows:
    header = ["treebank", "`search`", "configurations", "losses differ", "allowed actions differ"]
    yield [*header, "microseconds"]
    for treebank in (GOTHIC, ENGLISH):
        counts = results("repairs")[f"{treebank}-dev"]
        total = counts["configurations"]
        for search, microseconds in counts["microseconds"].items():
            row = [short(treebank), f"{int(search):,}" if int(search) else "no repairs"]
            row.append(f"{total:,}")
            for kind in ("losses", "free"):
                share = counts[kind].get(search)
                row.append("" if share is None else f"{100 * share / total:.2f} %")
            yield [*row, f"{microseconds:,.0f}"]
