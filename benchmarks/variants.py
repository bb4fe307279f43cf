"""Train the variants of a parser that a table of a paper compares, and make the table.

    python -m benchmarks.variants rep assets/UD_Gothic-PROIEL --epochs 12 --seeds 1 2 3 4 5
    python -m benchmarks.variants rep

Comparisons:
  rep     repair transitions, one by one: the draft's table of UAS by iteration
  rep_linear
          the same with the draft's learner and features, and decoupled repairs; on treebanks that
          benchmarks.jackknife has tagged; its epochs are the draft's iterations, from 0 on
  hgj13   non-monotonic LEFT-ARC (L) and REDUCE (D), by oracle; Unshift (Honnibal, Goldberg &
          Johnson 2013, Tables 1, 2 and 4)
  hgj13_linear
          the same with the paper's learner, on treebanks that benchmarks.jackknife has tagged: 15
          iterations, the averaged weights of the end (see benchmarks/perceptron.py)
  hgj13_beam
          monotonic and L+D, trained and searched with a beam (section 9)
  bn15_linear, bn15_beam
          the five oracles of SwapStandard with the paper's learner, greedy, and trained and
          searched with a beam (Björkelund & Nivre 2015, Tables 2 to 5); on treebanks and for
          iterations as hgj13_linear
  push    never SHIFT, always SHIFT (the same, section 4)
  recall  all repairs with less exploration, by the oracle `combined`, and without the features that
          they need: whether these raise it; L with those features
  fg18    Covington and NL-Covington, by oracle; arc-swift (Fernández-González & Gómez-Rodríguez
          2018, Tables 1 and 3)

With treebanks, what has no result file yet is trained by benchmarks.accuracy, one file a variant
and seed: benchmarks/runs/variants/TREEBANK/VARIANT-seedN.json. Then the tables of each
treebank are made of all result files that there are:
  - those of benchmarks.table on dev (or, with `--split test`, on test), against the first row;
  - UAS by epoch, that of the averaged weights at the last evaluation in the epoch;
  - how the non-monotonic moves were used by the best epoch's parsers (`nmparse repairs`), a mean
    over seeds.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks import accuracy, perceptron, table
from benchmarks.common import RUNS, WORK, command_line, complain, show
from benchmarks.formats import page_table
from benchmarks.papers import LINEAR, SPLITS, VARIANTS, Variant
from benchmarks.runs import Keeper, Runs, load
from benchmarks.summary import COUNTS, Entry, summarize_system
from benchmarks.systems import parse_system
from benchmarks.treebanks import open_treebank
from spacy_nmparse.ud.records import parse_settings

#: Words' tags are not learned: the systems alone are compared.
UNTAGGED = "components.parser.model.tag_weight=0.0"


def epochs_table(rows: list[tuple[Variant, Entry]]) -> str:
    """A treebank's table of UAS by epoch, means over seeds (the table of REP); empty where only the
    end of training was evaluated."""
    epochs = sorted({int(epoch) for _, one in rows for epoch in one["uas_by_epoch"]})
    if not epochs:
        return ""
    cells = []
    for variant, one in rows:
        row = [variant.title, str(len(one["seeds"]))]
        for epoch in epochs:
            values = one["uas_by_epoch"].get(str(epoch))
            row.append(f"{statistics.fmean(values):.2f}" if values else "-")
        cells.append(row)
    return page_table(["UAS by epoch", "seeds", *map(str, epochs)], cells)


def moves_table(rows: list[tuple[Variant, Entry]]) -> str:
    """A treebank's table of non-monotonic moves (HGJ13, Table 2); empty where no run has counted
    them."""
    cells = []
    for variant, one in rows:
        for move, total in one["moves"].get("repairs", {}).items():
            seeds = one["moves"]["seeds"]
            made = total["tp"] + total["neutral"] + total["fp"]
            needed = total["tp"] + total["fn"]
            row = [variant.title, move, str(seeds)]
            row += [f"{total[name] / seeds:,.1f}" for name in COUNTS]
            for part, whole in ((total["tp"], made), (total["tp"], needed)):
                row.append(f"{100 * part / whole:.1f}" if whole else "-")
            cells.append(row)
    header = ["", "move", "seeds", *map(str.upper, COUNTS[:4]), *COUNTS[4:], "precision", "recall"]
    return page_table(header, cells, left=2) if cells else ""


def changes_table(rows: list[tuple[Variant, Entry]]) -> str:
    """The labels that repairs change most often and rightly: the changes of each kind of move, with
    their right and wrong uses over all seeds, by the variant that uses the move most; empty where
    no run has counted moves."""
    most: dict[str, tuple[float, Variant, Entry]] = {}
    for variant, one in rows:
        for move, total in one["moves"].get("repairs", {}).items():
            uses = (total["tp"] + total["neutral"] + total["fp"]) / one["moves"]["seeds"]
            if move not in most or uses > most[move][0]:
                most[move] = uses, variant, one
    cells = []
    for move, (_, variant, one) in sorted(most.items()):
        changes = one["moves"]["labels"].get(move, [])
        shown = [f"{change} ({right}/{wrong})" for change, right, wrong in changes]
        cells.append([f"{move} of {variant.title}", ", ".join(shown)])
    header = ["move", "labels before > after (right/wrong)"]
    return page_table(header, cells, left=2) if cells else ""


def report(results: Mapping[str, Mapping[str, Runs]], comparison: str, split: str) -> str:
    """Write the tables of a comparison.

    Args:
        results: As from `runs.load`.
        comparison: A key of VARIANTS.
        split: The part of the treebanks that is reported.

    Returns:
        Markdown.

    Raises:
        ValueError: If no treebank has results of two of the variants.
    """
    listed = {one.name: one for one in VARIANTS[comparison]}
    parts = []
    for treebank, systems in sorted(results.items()):
        found = {
            name: systems[name]
            for name in listed
            if any(split in run for run in systems.get(name, {}).values())
        }
        if len(found) < 2:
            continue
        parts.append(table.report({treebank: found}, split, [next(iter(found))]))
        rows = [(listed[name], summarize_system(runs, True)) for name, runs in found.items()]
        tables = (epochs_table, moves_table, changes_table)
        parts += [text for make in tables if (text := make(rows))]
    if not parts:
        raise ValueError(
            f"No treebank has results of two of {', '.join(listed)} on {split}: name one to train "
            "them on."
        )
    return "\n\n".join(parts)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line with these arguments, or those of the process; its exit status."""
    parser = command_line(__doc__)
    parser.add_argument("comparison", choices=tuple(VARIANTS))
    parser.add_argument("treebanks", nargs="*", type=Path, help="folders of UD treebanks")
    parser.add_argument(
        "--local", default="", metavar="FOLDER", help="use this folder instead of a treebank's"
    )
    parser.add_argument("--seeds", nargs="+", default=["1", "2", "3"])
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--snapshot", default="unknown", help="release of the treebanks")
    parser.add_argument("--only", nargs="+", metavar="VARIANT", help="train these alone")
    parser.add_argument("--split", choices=SPLITS, default=SPLITS[0], help="the part to report")
    parser.add_argument("--lang", help="spaCy language code; by default from the file names")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--switch", action="store_true", help="use the switch of docs/speed.md")
    parser.add_argument("--work", type=Path, default=WORK / "variants")
    parser.add_argument("--runs", type=Path, default=RUNS / "variants")
    args = parser.parse_args(argv)
    listed = VARIANTS[args.comparison]
    wanted = [one for one in listed if args.only is None or one.name in args.only]
    if all(one.base in LINEAR for one in wanted):
        status = train_linear(args, wanted)
    else:
        status = train_neural(args, wanted)
    try:
        text = report(load(args.runs), args.comparison, args.split)
    except (OSError, ValueError) as error:
        return complain("variants", error)
    show(text)
    return status


def train_linear(args: argparse.Namespace, wanted: Sequence[Variant]) -> int:
    """Train variants with the linear scorer, one after the other.

    Args:
        args: Those of the command line.
        wanted: The variants.

    Returns:
        The exit status.
    """
    extra = parse_settings(args.set)
    status = 0
    for folder in args.treebanks:
        data = argparse.Namespace(**{**vars(args), "treebank": folder})
        try:
            treebank = open_treebank(data)
            keeper = Keeper("variants", args.runs / treebank.name)
            for seed, one in itertools.product(map(int, args.seeds), wanted):
                system = parse_system(one.as_argument()).changed(extra)
                command = f"python -m benchmarks.variants {args.comparison} --only {one.name}"
                each = "learner" in str(one.settings)
                of = (treebank, system, seed, args.epochs, command, each)
                expected = {
                    "files": treebank.files,
                    "overrides": system.overrides,
                    "epochs": args.epochs,
                }
                keeper.keep(one.name, seed, partial(perceptron.train_and_evaluate, *of), expected)
        except (OSError, ValueError) as error:
            return complain("variants", error)
        status = keeper.status() or status
    return status


def train_neural(args: argparse.Namespace, wanted: Sequence[Variant]) -> int:
    """Train variants with a neural scorer, by benchmarks.accuracy.

    Args:
        args: Those of the command line.
        wanted: The variants.

    Returns:
        The exit status.
    """
    status = 0
    for folder in args.treebanks:
        command = [str(folder), "--local", args.local, "--epochs", str(args.epochs)]
        command += ["--seeds", *args.seeds, "--evaluate", *SPLITS, "--moves", "--each-epoch"]
        command += ["--snapshot", args.snapshot]
        command += ["--work", str(args.work), "--runs", str(args.runs)]
        if args.lang:
            command += ["--lang", args.lang]
        if args.switch:
            command.append("--switch")
        for setting in (UNTAGGED, *args.set):
            command += ["--set", setting]
        for one in wanted:
            command += ["--system", one.as_argument()]
        status = accuracy.main(command) or status
    return status


if __name__ == "__main__":
    raise SystemExit(main())
