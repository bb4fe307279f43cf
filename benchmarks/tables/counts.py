"""Sentence boundaries, search, and counts of transitions, SWAPs and losses."""

from __future__ import annotations

from typing import Any

from benchmarks.formats import page_table
from benchmarks.tables.common import (
    DEMO,
    ENGLISH,
    GOTHIC,
    HUNGARIAN,
    TURKISH,
    grouped,
    raw_mean,
    results,
    score,
    table,
)
from benchmarks.titles import short, title
from spacy_nmparse.analysis.mining import DRAFT


@table("segmentation")
def _segmentation() -> str:
    rows = []
    for treebank in (GOTHIC, HUNGARIAN):
        every = results("segmentation")["systems"][treebank].items()
        for name, one in sorted(every, key=lambda item: -raw_mean(item[1], "sents_f", "test_raw")):
            parses = () if name == "senter" else ("uas_all", "las_all")
            cells = [score(one, f"sents_{kind}", "test_raw") for kind in "prf"]
            cells += [score(one, metric, "test_raw") for metric in parses] or ["", ""]
            rows.append([short(treebank), title(name), *cells])
    header = ["treebank", "system", "P", "R", "F1", "UAS", "LAS"]
    return page_table(header, grouped(rows), left=2)


SEARCHED = ("nm_parser", "swap_parser", "nl_covington_parser")


@table("beam-widths")
def _beam_widths() -> str:
    found = [results("search")[f"{name}-gothic"]["widths"] for name in SEARCHED]
    rows = []
    for runs in zip(*found, strict=True):
        row = [str(runs[0]["width"])]
        for run in runs:
            row += [f"{100 * run[metric]:.2f}" for metric in ("uas_all", "las_all")]
            row.append(f"{run['words_per_second']:,.0f}")
        rows.append(row)
    header = ["width"]
    for name in SEARCHED:
        header += [f"`{name}`: UAS", "LAS", "words/s"]
    return page_table(header, rows)


@table("confidences")
def _confidences() -> str:
    rows = []
    for treebank, names in ((GOTHIC, SEARCHED), (ENGLISH, ("nm_parser", "nl_covington_parser"))):
        for name in names:
            run = results("search")[f"confidence-{name}-{short(treebank).split('-')[0].lower()}"]
            for width in run["widths"]:
                if width["width"] > 4:
                    continue
                head, roots = width["head"], width["roots"]
                row = [short(treebank), f"`{name}`", str(width["width"])]
                row += [f"{head[f'error_{when}']:.3f}" for when in ("before", "after")]
                row += [f"{head['area_under_curve']:.2f}", f"{roots['right']:.2f}"]
                row += [f"{roots[f'said_{when}']:.2f}" for when in ("before", "after")]
                row.append(", ".join(f"{100 * las:.0f}" for las in width["las_by_least_sure"]))
                rows.append(row)
    header = ["treebank", "parser", "width", "error", "calibrated", "AUC", "roots right"]
    header += ["confidence", "calibrated", "LAS by fifths"]
    return page_table(header, grouped(rows), left=2)


@table("transitions")
def _transitions() -> str:
    rows = []
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, DEMO):
        counts = results("transitions")[f"{treebank}-test"]
        row = ["the demo's (`demo-counts`)" if treebank == DEMO else short(treebank)]
        row.append(f"{counts['words'] / counts['sentences']:.1f}")
        for system in ("covington", "nl_covington", "swap_standard"):
            row.append(f"{counts[system]['per_sentence']:.2f}")
        rows.append(row)
    return page_table(["treebank", "words", "Covington", "NL-Covington", "SwapStandard"], rows)


@table("planes")
def _planes() -> str:
    rows = []
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH):
        counts = results("transitions")[f"{treebank}-train"]
        total, found = counts["sentences"], counts["two_planar"]["sentences"]
        projective = counts["arc_eager, projective trees"]["sentences"]
        row = [short(treebank), f"{total:,}", f"{100 * projective / total:.2f} %"]
        row += [f"{100 * found / total:.2f} %", str(total - found)]
        rows.append([*row, f"{counts['two_planar']['per_sentence']:.2f}"])
    header = ["treebank", "sentences", "projective", "2-planar", "not 2-planar", "moves a sentence"]
    return page_table(header, rows)


@table("swaps")
def _swaps() -> str:
    rows = []
    for treebank in (ENGLISH, GOTHIC, HUNGARIAN, TURKISH, DEMO):
        counts = results("swaps")[f"{treebank}-train"]
        eager, lazy, minimal = (counts["swaps"][name] for name in ("eager", "lazy", "minimal"))
        total = counts["sentences"]
        rows.append(
            [
                "the demo's (`demo-counts`)" if treebank == DEMO else short(treebank),
                f"{total:,}",
                f"{100 * counts['projective'] / total:.2f} %",
                f"{eager:,}",
                *(f"{100 * (1 - other / eager):.1f} %" for other in (lazy, minimal)),
                str(counts["not_proven"]),
                f"{100 * counts['unique'] / total:.2f} %",
            ]
        )
    header = ["", "sentences", "projective", "SWAPs: `eager`", "`lazy` saves", "`minimal` saves"]
    return page_table([*header, "not proven", "one derivation"], rows)


@table("repair-losses")
def _repair_losses() -> str:
    rows = []
    for treebank in (GOTHIC, ENGLISH):
        counts = results("repairs")[f"{treebank}-dev"]
        total = counts["configurations"]
        for search, microseconds in counts["microseconds"].items():
            row = [short(treebank), f"{int(search):,}" if int(search) else "no repairs"]
            row.append(f"{total:,}")
            for kind in ("losses", "free"):
                share = counts[kind].get(search)
                row.append("" if share is None else f"{100 * share / total:.2f} %")
            rows.append([*row, f"{microseconds:,.0f}"])
    header = ["treebank", "`search`", "configurations", "losses differ", "allowed actions differ"]
    return page_table([*header, "microseconds"], grouped(rows))


@table("oracle-curves")
def _oracle_curves() -> str:
    found = results("oracle_curves")[HUNGARIAN]
    rows = []
    for oracle, curve in found["las"].items():
        *_, (_, las, deviation) = curve
        learned = [found["swaps"][oracle][place][1] for place in (0, -1)]
        rows.append([f"`{oracle}`", f"{las:.2f} ± {deviation:.2f}", *(f"{n:.2f}" for n in learned)])
    header = ["oracle", "LAS on dev, last epoch", "SWAPs a sentence: first epoch", "last"]
    return page_table(header, rows)


def edit_table(found: dict[str, Any], top: int) -> str:
    """Format the single edits of arcs that would mend errors, as benchmarks.mine_repairs found
    them: the `top` ones that mend most and leave a tree, as Markdown."""
    rows = [
        [
            *(word, head, str(whole), f"{100 * whole / max(1, found['errors']):.1f} %", str(n)),
            DRAFT.get((word, head), ""),
        ]
        for word, head, n, whole in found["edits"][:top]
    ]
    header = ["word", "its right head", "mended", "of the errors", "with other edits", "draft"]
    return page_table(header, rows, left=2)


@table("mined-repairs")
def _mined_repairs() -> str:
    return edit_table(results("mine_repairs")[GOTHIC], 12)
