"""Train the variants of a parser that a table of a paper compares, and make the table.

    python benchmarks/variants.py rep assets/UD_Gothic-PROIEL --epochs 12 --seeds 1 2 3 4 5
    python benchmarks/variants.py rep

Comparisons:
  rep     repair transitions, one by one: the table that the draft on them leaves empty
  hgj13   non-monotonic LEFT-ARC (L) and REDUCE (D), by oracle; Unshift (Honnibal, Goldberg &
          Johnson 2013, Tables 1, 2 and 4)
  push    never SHIFT, always SHIFT (the same, section 4)
  weights L+D, and all repairs, with another weight on configurations that need a repair: whether
          it raises their recall
  recall  all repairs with less exploration, by the oracle `combined`, and without the features that
          they need: whether these raise it; L with those features
  fg18    Covington and NL-Covington, by oracle; arc-swift (Fernández-González & Gómez-Rodríguez
          2018, Tables 1 and 3)

With treebanks, what has no result file yet is trained by benchmarks/accuracy.py, one file a variant
and seed: benchmarks/results/variants/TREEBANK/VARIANT-seedN.json. Then the tables are made of all
result files that there are:
  - by treebank: words and whole sentences right, heads alone and with labels, on dev (or, with
    `--split test`, on test), and moves a sentence on dev; against the first row, a paired bootstrap
    over sentences and Wilcoxon's signed-rank test over seeds, both on the seeds that the two rows
    share (see benchmarks/table.py);
  - UAS by epoch, that of the averaged weights at the last evaluation in the epoch;
  - how the non-monotonic moves were used by the best epoch's parsers (`nmparse repairs`), a mean
    over seeds;
  - UAS and LAS of the variants on all treebanks.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "benchmarks")]

import accuracy  # noqa: E402
from table import Runs, compare, load, markdown, mean_and_deviation  # noqa: E402

from spacy_nmparse.scorers.state_scorer import DEFAULT_FEATURES  # noqa: E402
from spacy_nmparse.systems.repair import FEATURES as REPAIR_FEATURES  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "variants"
SPLITS = ("dev", "test")
#: What is known of each kind of move, in the order of HGJ13's Table 2, and what we tell beside it.
COUNTS = ("tp", "fp", "tn", "fn", "neutral", "deferred")
CHANGES = 8  # label pairs that are shown
WEIGHTS = (0.3, 3, 10)


@dataclass(frozen=True)
class Variant:
    """A row of a table.

    Attributes:
        name: The name of its result files.
        title: What tables call it.
        config: The config in the folder configs.
        settings: Settings that differ from the config's.
    """

    name: str
    title: str
    config: str
    settings: tuple[str, ...]

    def as_argument(self) -> str:
        """For `--system` of benchmarks/accuracy.py."""
        return ",".join([f"{self.name}={ROOT / 'configs' / self.config}", *self.settings])


def arc_eager(
    name: str,
    title: str,
    left: bool = False,
    reduces: bool = False,
    oracle: str = "dynamic",
    **options: str,
) -> Variant:
    """Make a variant of the arc-eager parser.

    Args:
        name: See `Variant`.
        title: See `Variant`.
        left: Whether LEFT-ARC is non-monotonic.
        reduces: Whether REDUCE is.
        oracle: The oracle; `static` is followed without exploration.
        options: Further options of the system, as JSON.

    Returns:
        The variant.
    """
    settings = [
        f"components.parser.system.nonmonotonic_left={str(left).lower()}",
        f"components.parser.system.nonmonotonic_reduce={str(reduces).lower()}",
        *(f"components.parser.system.{key}={value}" for key, value in options.items()),
    ]
    if oracle != "dynamic":
        settings.append(f"components.parser.oracle={oracle}")
    if oracle == "static":
        settings.append("components.parser.explore=0.0")
    return Variant(name, title, "nm_parser_multihash.cfg", tuple(settings))


def modify(variant: Variant, name: str, title: str, setting: str) -> Variant:
    """Make a variant of a variant.

    Args:
        variant: The variant.
        name: What its result files' names have behind the variant's.
        title: What tables add to the variant's title.
        setting: A setting more.

    Returns:
        The variant.
    """
    settings = (*variant.settings, setting)
    return Variant(f"{variant.name}_{name}", f"{variant.title}, {title}", variant.config, settings)


def weighted(variant: Variant, weight: float) -> Variant:
    """Make a variant with another weight of configurations that need a repair."""
    setting = f"components.parser.repair_weight={weight}"
    return modify(variant, f"weight{weight}", f"weight {weight}", setting)


def exploring(variant: Variant, explore: float) -> Variant:
    """Make a variant that follows the model with another probability in training."""
    setting = f"components.parser.explore={explore}"
    return modify(variant, f"explore{explore}", f"explore {explore}", setting)


def featured(variant: Variant, name: str, title: str, *features: str) -> Variant:
    """Make a variant with these features beside those that every system has."""
    listed = ",".join(f'"{feature}"' for feature in (*DEFAULT_FEATURES, *features))
    return modify(variant, name, title, f"components.parser.model.features=[{listed}]")


def repair(name: str, title: str, *repairs: str) -> Variant:
    """Make a variant with repair transitions beside left reattach.

    Args:
        name: See `Variant`.
        title: See `Variant`.
        repairs: Which ones.

    Returns:
        The variant.
    """
    listed = ",".join(f'"{one}"' for one in repairs)
    return arc_eager(name, title, left=True, repairs=f"[{listed}]", search="50")


def list_system(name: str, title: str, system: str, oracle: str = "dynamic") -> Variant:
    """Make a variant of nl_covington_parser with a list system and an oracle; `static` is followed
    without exploration."""
    settings = [f"components.parser.system.@misc=spacy_nmparse.{system}.v1"]
    if oracle == "static":
        settings += ["components.parser.oracle=static", "components.parser.explore=0.0"]
    return Variant(name, title, "nl_covington_parser_multihash.cfg", tuple(settings))


MONOTONIC = arc_eager("monotonic", "monotonic")
LEFT = arc_eager("left", "L", left=True)
REDUCE = arc_eager("reduce", "D", reduces=True)
BOTH = arc_eager("left_reduce", "L+D", left=True, reduces=True)
ALL = repair("all_repairs", "+ all four", "right_lower", "right_raise", "left_invert")
VARIANTS: dict[str, tuple[Variant, ...]] = {
    "rep": (
        arc_eager("monotonic", "arc-eager"),
        arc_eager("left", "+ left reattach", left=True),
        repair("right_lower", "+ left reattach, right lower", "right_lower"),
        repair("right_raise", "+ left reattach, right raise", "right_raise"),
        repair("left_invert", "+ left reattach, left invert", "left_invert"),
        ALL,
    ),
    "hgj13": (
        MONOTONIC,
        LEFT,
        REDUCE,
        BOTH,
        arc_eager("unshift", "L, Unshift", left=True, unshift="true"),
        arc_eager("left_combined", "L, combined", left=True, oracle="combined"),
        arc_eager("reduce_combined", "D, combined", reduces=True, oracle="combined"),
        arc_eager("both_combined", "L+D, combined", left=True, reduces=True, oracle="combined"),
        arc_eager("monotonic_static", "monotonic, static", oracle="static"),
        arc_eager("left_static", "L, static", left=True, oracle="static"),
        arc_eager("reduce_static", "D, static", reduces=True, oracle="static"),
        arc_eager("both_static", "L+D, static", left=True, reduces=True, oracle="static"),
    ),
    "push": (
        BOTH,
        arc_eager("never_shift", "L, never SHIFT", left=True, push="right_arc"),
        arc_eager(
            "labelled_reduce", "L+D, labelled REDUCE", True, reduces=True, labelled_reduce="true"
        ),
        arc_eager(
            "always_shift",
            "L+D, labelled REDUCE, always SHIFT",
            left=True,
            reduces=True,
            labelled_reduce="true",
            push="shift",
        ),
    ),
    "weights": (
        BOTH,
        *(weighted(BOTH, weight) for weight in WEIGHTS),
        ALL,
        *(weighted(ALL, weight) for weight in WEIGHTS),
    ),
    "recall": (
        ALL,
        exploring(ALL, 0.5),
        exploring(ALL, 0.0),
        modify(ALL, "combined", "combined", "components.parser.oracle=combined"),
        featured(ALL, "plain", "without their features"),
        LEFT,
        featured(LEFT, "features", "their features", *itertools.chain(*REPAIR_FEATURES.values())),
    ),
    "fg18": (
        list_system("covington_static", "Covington, static", "Covington", "static"),
        list_system("covington", "Covington", "Covington"),
        list_system("nl_covington_static", "NL-Covington, static", "NLCovington", "static"),
        list_system("nl_covington", "NL-Covington", "NLCovington"),
        Variant("arc_swift", "arc-swift", "arc_swift_multihash.cfg", ()),
    ),
}


def mean(values: Iterable[float | None], factor: float = 100, digits: int = 2) -> str:
    """Format a mean and standard deviation, as benchmarks/table.py does."""
    return mean_and_deviation(values, factor, digits)


def share_exact(run: dict[str, Any], split: str, counted: str) -> float:
    """Compute the share of sentences with all words right.

    Args:
        run: The contents of a result file.
        split: "dev" or "test".
        counted: "heads" or "labelled".

    Returns:
        The share.
    """
    counts = run[split]["per_sentence"]
    pairs = list(zip(counts["words"], counts[counted], strict=True))
    return sum(words == right for words, right in pairs) / len(pairs)


def accuracy_table(rows: list[tuple[Variant, Runs]], split: str) -> str:
    """Make a treebank's table of words and sentences right (HGJ13, Table 1).

    Args:
        rows: Variants and their runs; the first is compared with.
        split: "dev" or "test".

    Returns:
        Markdown.
    """
    base = rows[0][1]
    cells = []
    for variant, runs in rows:
        row = [variant.title, str(len(runs))]
        for metric, counted in (("uas_all", "heads"), ("las_all", "labelled")):
            row.append(mean(run[split]["scores"][metric] for run in runs.values()))
            row.append(mean(share_exact(run, split, counted) for run in runs.values()))
        found = None if runs is base else compare(runs, base, split, "uas_all")
        if found is None:
            row += [""] * 4
        else:
            row.append(f"{found.difference:+.2f}")
            row.append(f"{found.low:+.2f} … {found.high:+.2f}")
            row += [f"{found.p_bootstrap:.3f}", f"{found.p_wilcoxon:.3f}"]
        moves = [run["moves"]["moves"] / run["moves"]["documents"] for run in runs.values()]
        cells.append([*row, mean(moves, 1)])
    header = ["", "seeds", "UAS", "sentences", "LAS", "sentences", "UAS against the first"]
    header += ["95 % interval", "p bootstrap", "p Wilcoxon", "moves a sentence"]
    return markdown(header, cells)


def by_epoch(run: dict[str, Any]) -> dict[int, float]:
    """Find the UAS at the last evaluation of each epoch.

    Args:
        run: The contents of a result file.

    Returns:
        UAS in points by epoch, from 1.
    """
    curve = run["curve"]
    # spaCy's own score leaves out punctuation
    values = curve.get("dep_uas_conll", curve.get("dep_uas", []))
    return {epoch + 1: value for epoch, value in zip(curve["epoch"], values, strict=True)}


def epochs_table(rows: list[tuple[Variant, Runs]]) -> str:
    """Make a treebank's table of UAS by epoch (the table of REP).

    Args:
        rows: Variants and their runs.

    Returns:
        Markdown: means over seeds.
    """
    curves = [(variant, [by_epoch(run) for run in runs.values()]) for variant, runs in rows]
    last = max(max(curve, default=0) for _, seeds in curves for curve in seeds)
    cells = []
    for variant, seeds in curves:
        row = [variant.title, str(len(seeds))]
        for epoch in range(1, last + 1):
            values = [curve[epoch] for curve in seeds if epoch in curve]
            row.append(f"{statistics.fmean(values):.2f}" if values else "-")
        cells.append(row)
    return markdown(["UAS by epoch", "seeds", *map(str, range(1, last + 1))], cells)


def moves_table(rows: list[tuple[Variant, Runs]]) -> str:
    """Make a treebank's table of non-monotonic moves (HGJ13, Table 2).

    Args:
        rows: Variants and their runs.

    Returns:
        Markdown; empty where no run has counted moves.
    """
    cells = []
    for variant, runs in rows:
        counted = [run["moves"] for run in runs.values() if "moves" in run]
        for move in sorted({move for one in counted for move in one["repairs"]}):
            found = [one["repairs"].get(move, dict.fromkeys(COUNTS, 0)) for one in counted]
            total = {name: sum(one[name] for one in found) for name in COUNTS}
            made = total["tp"] + total["neutral"] + total["fp"]
            needed = total["tp"] + total["fn"]
            row = [variant.title, move, str(len(counted))]
            row += [f"{total[name] / len(counted):,.1f}" for name in COUNTS]
            for part, whole in ((total["tp"], made), (total["tp"], needed)):
                row.append(f"{100 * part / whole:.1f}" if whole else "-")
            cells.append(row)
    header = ["", "move", "seeds", *map(str.upper, COUNTS[:4]), *COUNTS[4:], "precision", "recall"]
    return markdown(header, cells) if cells else ""


def most_used(rows: list[tuple[Variant, Runs]]) -> dict[str, tuple[Variant, Runs]]:
    """Find the variant that uses a kind of non-monotonic move most, per seed.

    Args:
        rows: Variants and their runs.

    Returns:
        The row of each kind of move.
    """
    most: dict[str, tuple[float, tuple[Variant, Runs]]] = {}
    for row in rows:
        counted = [run["moves"]["repairs"] for run in row[1].values() if "moves" in run]
        for move in {move for one in counted for move in one}:
            found = [one[move] for one in counted if move in one]
            uses = sum(one["tp"] + one["neutral"] + one["fp"] for one in found) / len(counted)
            if move not in most or uses > most[move][0]:
                most[move] = uses, row
    return {move: row for move, (_, row) in most.items()}


def changes_table(rows: list[tuple[Variant, Runs]]) -> str:
    """Make a table of the labels that repairs change most often and rightly.

    Args:
        rows: Variants and their runs.

    Returns:
        Markdown: the changes of each kind of move, with their right and wrong uses over all seeds,
        by the variant that uses the move most. Empty where no run has counted moves.
    """
    cells = []
    for move, (variant, runs) in sorted(most_used(rows).items()):
        total: dict[str, list[int]] = {}
        for run in runs.values():
            for change, outcomes in run.get("moves", {}).get("labels", {}).get(move, {}).items():
                counts = total.setdefault(change, [0, 0])
                counts[0] += outcomes.get("tp", 0)
                counts[1] += outcomes.get("fp", 0)
        best = sorted(total.items(), key=lambda item: (-item[1][0], item[0]))[:CHANGES]
        told = [f"{change} ({right}/{wrong})" for change, (right, wrong) in best if right]
        cells.append([f"{move} of {variant.title}", ", ".join(told)])
    return markdown(["move", "labels before > after (right/wrong)"], cells) if cells else ""


def languages_table(table: dict[str, list[tuple[Variant, Runs]]], split: str) -> str:
    """Make the table of all treebanks (HGJ13, Table 4).

    Args:
        table: The rows of each treebank.
        split: "dev" or "test".

    Returns:
        Markdown: UAS and LAS, means over the seeds of each.
    """
    variants = list(dict.fromkeys(variant for rows in table.values() for variant, _ in rows))
    cells = []
    for variant in variants:
        row = [variant.title]
        for rows in table.values():
            runs = dict(rows).get(variant, {})
            for metric in ("uas_all", "las_all"):
                values = [100 * run[split]["scores"][metric] for run in runs.values()]
                row.append(f"{statistics.fmean(values):.2f}" if values else "-")
        cells.append(row)
    names = [name.removeprefix("UD_") for name in table]
    return markdown(["", *(f"{name} {m}" for name in names for m in ("UAS", "LAS"))], cells)


def report(
    results: dict[str, dict[str, Runs]], variants: Sequence[Variant], split: str = SPLITS[0]
) -> str:
    """Write the tables of a comparison.

    Args:
        results: As from `table.load`.
        variants: The rows.
        split: The part of the treebanks that is reported.

    Returns:
        Markdown.

    Raises:
        ValueError: If no treebank has results of any of them.
    """
    found = {}
    for treebank, systems in results.items():
        rows = []
        for one in variants:
            runs = {n: run for n, run in systems.get(one.name, {}).items() if split in run}
            if runs:
                rows.append((one, runs))
        if rows:
            found[treebank] = rows
    if not found:
        names = ", ".join(one.name for one in variants)
        raise ValueError(
            f"There are no results of {names} on {split}: name a treebank to train them on."
        )
    # One row, or none but rows of other comparisons, tell nothing.
    count = Counter(one.name for rows in VARIANTS.values() for one in rows)
    several = {treebank: rows for treebank, rows in found.items() if len(rows) > 1} or found
    found = {
        treebank: rows
        for treebank, rows in several.items()
        if any(count[one.name] < 2 for one, _ in rows)
    } or several
    parts = []
    for treebank, rows in found.items():
        run = next(iter(rows[0][1].values()))
        parts.append(f"### {treebank} ({split}, {run['epochs']} epochs, {run['snapshot']})")
        parts += [accuracy_table(rows, split), epochs_table(rows)]
        parts += [text for make in (moves_table, changes_table) if (text := make(rows))]
    if len(found) > 1:
        parts += ["### All treebanks", languages_table(found, split)]
    return "\n\n".join(parts)


#: Words' tags are not learned: the systems alone are compared.
UNTAGGED = "components.parser.model.tag_weight=0.0"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
    parser.add_argument("--work", type=Path, default=ROOT / "training" / "variants")
    parser.add_argument("--results", type=Path, default=RESULTS)
    args = parser.parse_args(argv)
    variants = VARIANTS[args.comparison]
    wanted = [one for one in variants if args.only is None or one.name in args.only]
    status = 0
    for folder in args.treebanks:
        command = [str(folder), "--local", args.local, "--epochs", str(args.epochs)]
        command += ["--seeds", *args.seeds, "--evaluate", *SPLITS, "--moves", "--each-epoch"]
        command += ["--snapshot", args.snapshot]
        command += ["--work", str(args.work), "--results", str(args.results)]
        if args.lang:
            command += ["--lang", args.lang]
        if args.switch:
            command.append("--switch")
        for setting in (UNTAGGED, *args.set):
            command += ["--set", setting]
        for one in wanted:
            command += ["--system", one.as_argument()]
        status = accuracy.main(command) or status
    try:
        text = report(load(args.results), variants, args.split)
    except (OSError, ValueError) as error:
        print(f"variants.py: {error}", file=sys.stderr)
        return 1
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    print(text)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
