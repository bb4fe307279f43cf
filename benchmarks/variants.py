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
and seed: benchmarks/runs/variants/TREEBANK/VARIANT-seedN.json. Then the tables are made of all
result files that there are:
  - by treebank: words and whole sentences right, heads alone and with labels, on dev (or, with
    `--split test`, on test), and moves a sentence on dev; against the first row, a paired bootstrap
    over sentences and Wilcoxon's signed-rank test over seeds, both on the seeds that the two rows
    share (see benchmarks.table);
  - UAS by epoch, that of the averaged weights at the last evaluation in the epoch;
  - how the non-monotonic moves were used by the best epoch's parsers (`nmparse repairs`), a mean
    over seeds;
  - UAS and LAS of the variants on all treebanks.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import accuracy, perceptron
from benchmarks.common import RUNS, WORK, command_line, complain, show
from benchmarks.formats import mean_and_deviation, page_table
from benchmarks.significance import load
from benchmarks.summary import COUNTS, Entry, Pair, summarize
from benchmarks.systems import parse_system
from benchmarks.treebanks import open_treebank
from spacy_nmparse.lab.repairs.repair import FEATURES as REPAIR_FEATURES
from spacy_nmparse.scorers.state_scorer import DEFAULT_FEATURES
from spacy_nmparse.ud.records import dump, parse_settings

SPLITS = ("dev", "test")


@dataclass(frozen=True)
class Variant:
    """A row of a table.

    Attributes:
        name: The name of its result files.
        title: What tables call it.
        base: The system that it is a variant of.
        settings: Settings that differ from the base's.
    """

    name: str
    title: str
    base: str
    settings: tuple[str, ...]

    def as_argument(self) -> str:
        """For `--system` of benchmarks.accuracy."""
        return ",".join([f"{self.name}={self.base}", *self.settings])


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
    return Variant(name, title, "nm_parser_multihash", tuple(settings))


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
    return Variant(f"{variant.name}_{name}", f"{variant.title}, {title}", variant.base, settings)


def exploring(variant: Variant, explore: float) -> Variant:
    """Make a variant that follows the model with another probability in training."""
    setting = f"components.parser.explore={explore}"
    return modify(variant, f"explore{explore}", f"explore {explore}", setting)


def featured(variant: Variant, name: str, title: str, *features: str) -> Variant:
    """Make a variant with these features in addition to those that every system has."""
    listed = ",".join(f'"{feature}"' for feature in (*DEFAULT_FEATURES, *features))
    return modify(variant, name, title, f"components.parser.model.features=[{listed}]")


def repair(name: str, title: str, *repairs: str, **options: str) -> Variant:
    """Make a variant with repair transitions in addition to left reattach.

    Args:
        name: See `Variant`.
        title: See `Variant`.
        repairs: Which ones.
        options: Further options of the system, as JSON.

    Returns:
        The variant.
    """
    listed = ",".join(f'"{one}"' for one in repairs)
    options = {"repairs": f"[{listed}]", "max_search_states": "50", **options}
    return arc_eager(name, title, left=True, **options)


def decoupled(variant: Variant) -> Variant:
    """Make a variant whose repairs leave the arc with B0 to the next move."""
    setting = "components.parser.system.decoupled_repairs=true"
    return modify(variant, "decoupled", "decoupled", setting)


def logistic(variant: Variant, features: str, *sets: str) -> Variant:
    """Make a variant with the learner of the draft on repairs.

    Args:
        variant: The variant.
        features: What its result files' names have for its features.
        sets: Lists of templates.

    Returns:
        The variant.
    """
    listed = ",".join(f'"{one}"' for one in sets)
    settings = ("components.parser.model.learner=logistic",)
    settings += (f"components.parser.model.features=[{listed}]",)
    settings += ("components.parser.system.max_search_states=10",)
    name = f"logistic_{features}_{variant.name}"
    return Variant(name, variant.title, LINEAR[0], (*variant.settings, *settings))


def linear(variant: Variant) -> Variant:
    """Make a variant with the linear scorer, as the papers have it."""
    return Variant(f"linear_{variant.name}", variant.title, LINEAR[0], variant.settings)


def by_beam(variant: Variant) -> Variant:
    """Make a variant that is trained, and parses, with a beam."""
    settings = ("beam_training=max_violation", "beam_train_width=8", "beam_width=8")
    return Variant(
        f"{variant.name}_beam",
        f"{variant.title}, beam",
        variant.base,
        (*variant.settings, *(f"components.parser.{setting}" for setting in settings)),
    )


def swap(oracle: str) -> Variant:
    """Make a linear variant of swap_parser that follows an oracle without exploration."""
    settings = (f"components.parser.oracle={oracle}", "components.parser.explore=0.0")
    return Variant(f"linear_swap_{oracle}", oracle, LINEAR[1], settings)


def list_system(name: str, title: str, system: str, *more: str) -> Variant:
    """Make a variant of nl_covington_parser with a list system and further settings."""
    settings = (f"components.parser.system.@misc=spacy_nmparse.{system}.v1", *more)
    return Variant(name, title, "nl_covington_parser_multihash", settings)


#: The static oracle, followed without exploration.
STATIC_ORACLE = ("components.parser.oracle=static", "components.parser.explore=0.0")
#: Arcs may replace arcs.
NONMONOTONIC = "components.parser.system.nonmonotonic=true"
#: The systems of the linear scorer.
LINEAR = ("nm_parser_linear", "swap_parser_linear")
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
        list_system("covington_static", "Covington, static", "Covington", *STATIC_ORACLE),
        list_system("covington", "Covington", "Covington"),
        list_system("covington_loose", "Covington, non-monotonic", "Covington", NONMONOTONIC),
        list_system("nl_covington_static", "NL-Covington, static", "NLCovington", *STATIC_ORACLE),
        list_system("nl_covington", "NL-Covington", "NLCovington"),
        list_system(
            "nl_covington_loose", "NL-Covington, non-monotonic", "NLCovington", NONMONOTONIC
        ),
        Variant("arc_swift_static", "arc-swift, static", "arc_swift_multihash", STATIC_ORACLE),
        Variant("arc_swift", "arc-swift", "arc_swift_multihash", ()),
    ),
}
REPAIRED = VARIANTS["rep"]
#: Plain features: the baseline, left reattach, all four repairs. Additional ones: each repair, and
#: all four decoupled too.
VARIANTS["rep_linear"] = (
    *(logistic(one, "plain", "zhang_nivre") for one in (*REPAIRED[:2], ALL)),
    *(
        logistic(one, "additional", "zhang_nivre", "additional")
        for one in (*REPAIRED, decoupled(ALL))
    ),
)
VARIANTS["hgj13_linear"] = tuple(linear(variant) for variant in VARIANTS["hgj13"])
VARIANTS["hgj13_beam"] = tuple(
    by_beam(variant)
    for variant in VARIANTS["hgj13_linear"]
    if variant.name in ("linear_monotonic", "linear_both_combined", "linear_left_reduce")
)
#: BN15's oracles: static ones, and those that leave a choice.
STATIC = ("eager", "lazy", "minimal")
CHOOSING = ("nd_sw", "nd_all")
ORACLES = tuple(swap(oracle) for oracle in (*STATIC, *CHOOSING))
VARIANTS["bn15_linear"] = ORACLES
VARIANTS["bn15_beam"] = tuple(by_beam(variant) for variant in ORACLES)


def accuracy_table(
    rows: list[tuple[Variant, Entry]], comparisons: dict[str, Any], split: str
) -> str:
    """Make a treebank's table of words and sentences right (HGJ13, Table 1).

    Args:
        rows: Variants and their summaries; the first is compared with.
        comparisons: The treebank's comparisons.
        split: "dev" or "test".

    Returns:
        Markdown.
    """
    base = rows[0][0]
    cells = []
    for variant, one in rows:
        row = [variant.title, str(len(one["seeds"]))]
        for metric in ("uas_all", "exact_heads", "las_all", "exact_labelled"):
            row.append(mean_and_deviation(one[split][metric]["seeds"], 100, 2))
        found = comparisons.get(Pair(variant.name, base.name, split, "uas_all").key)
        if found is None:
            row += [""] * 4
        else:
            row.append(f"{found['difference']:+.2f}")
            row.append(f"{found['low']:+.2f} … {found['high']:+.2f}")
            row += [f"{found['p_bootstrap']:.3f}", f"{found['p_wilcoxon']:.3f}"]
        cells.append([*row, mean_and_deviation(one["moves"]["per_sentence"]["seeds"], 1, 2)])
    header = ["", "seeds", "UAS", "sentences", "LAS", "sentences", "UAS against the first"]
    header += ["95 % interval", "p bootstrap", "p Wilcoxon", "moves a sentence"]
    return page_table(header, cells)


def epochs_table(rows: list[tuple[Variant, Entry]]) -> str:
    """Make a treebank's table of UAS by epoch (the table of REP).

    Args:
        rows: Variants and their summaries.

    Returns:
        Markdown: means over seeds; empty where only the end of training was evaluated.
    """
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
    """Make a treebank's table of non-monotonic moves (HGJ13, Table 2).

    Args:
        rows: Variants and their summaries.

    Returns:
        Markdown; empty where no run has counted moves.
    """
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
    """Make a table of the labels that repairs change most often and rightly.

    Args:
        rows: Variants and their summaries.

    Returns:
        Markdown: the changes of each kind of move, with their right and wrong uses over all seeds,
        by the variant that uses the move most. Empty where no run has counted moves.
    """
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


def languages_table(table: dict[str, list[tuple[Variant, Entry]]], split: str) -> str:
    """Make the table of all treebanks (HGJ13, Table 4).

    Args:
        table: The rows of each treebank.
        split: "dev" or "test".

    Returns:
        Markdown: UAS and LAS, means over the seeds of each.
    """
    listed = list(dict.fromkeys(variant for rows in table.values() for variant, _ in rows))
    cells = []
    for variant in listed:
        row = [variant.title]
        for rows in table.values():
            one = dict(rows).get(variant)
            for metric in ("uas_all", "las_all"):
                values = one[split][metric]["seeds"] if one else []
                row.append(f"{100 * statistics.fmean(values):.2f}" if values else "-")
        cells.append(row)
    names = [name.removeprefix("UD_") for name in table]
    return page_table(["", *(f"{name} {m}" for name in names for m in ("UAS", "LAS"))], cells)


def pairs() -> Iterator[Pair]:
    """List what the tables compare.

    Yields:
        Each variant of a comparison and its first one; list systems by oracle and with one another,
        and with arc-swift.
    """
    for listed in VARIANTS.values():
        for split in SPLITS:
            for one in listed[1:]:
                yield Pair(one.name, listed[0].name, split, "uas_all")
    for one, split in itertools.product(VARIANTS["rep_linear"], SPLITS):
        _, features, row = one.name.split("_", 2)
        if features == "additional" and row != "monotonic":
            yield Pair(one.name, f"logistic_{features}_monotonic", split, "uas_all")
    yield Pair("left_reduce", "monotonic", "dev", "uas_all")
    for ending in ("", "_beam"):
        eager = f"linear_swap_eager{ending}"
        for oracle in (*STATIC[1:], *CHOOSING):
            yield Pair(f"linear_swap_{oracle}{ending}", eager, "dev", "las_all")
        for oracle, static in itertools.product(CHOOSING, STATIC):
            name = f"linear_swap_{static}{ending}"
            yield Pair(f"linear_swap_{oracle}{ending}", name, "test", "las_all")
    for name, other in (
        ("covington", "covington_static"),
        ("nl_covington", "nl_covington_static"),
        ("nl_covington_static", "covington_static"),
        ("nl_covington", "covington"),
        ("nl_covington", "arc_swift"),
    ):
        yield Pair(name, other, "test", "las_all")


def report(summary: dict[str, Any], comparison: str, split: str = SPLITS[0]) -> str:
    """Write the tables of a comparison.

    Args:
        summary: As from `summary.summarize`.
        comparison: A key of VARIANTS.
        split: The part of the treebanks that is reported.

    Returns:
        Markdown.

    Raises:
        ValueError: If no treebank has results of any of the variants.
    """
    listed = VARIANTS[comparison]
    found = {}
    for treebank, systems in sorted(summary["systems"].items()):
        rows = [
            (one, systems[one.name])
            for one in listed
            if one.name in systems and split in systems[one.name]
        ]
        if rows:
            found[treebank] = rows
    if not found:
        names = ", ".join(one.name for one in listed)
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
        one = rows[0][1]
        parts.append(f"#### {treebank} ({split}, {one['epochs']} epochs, {one['snapshot']})")
        comparisons = summary["comparisons"].get(treebank, {})
        parts.append(accuracy_table(rows, comparisons, split))
        tables = (epochs_table, moves_table, changes_table)
        parts += [text for make in tables if (text := make(rows))]
    if len(found) > 1:
        parts += ["#### All treebanks", languages_table(found, split)]
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
        summary = summarize(load(args.runs), pairs(), epochs=True)
        text = report(summary, args.comparison, args.split)
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
    for folder in args.treebanks:
        data = argparse.Namespace(**{**vars(args), "treebank": folder})
        try:
            treebank = open_treebank(data)
        except (OSError, ValueError) as error:
            return complain("variants", error)
        for seed, one in itertools.product(args.seeds, wanted):
            target = args.runs / treebank.name / f"{one.name}-seed{seed}.json"
            if target.is_file():
                print(f"{target.name}: done before")
                continue
            system = parse_system(one.as_argument()).changed(extra)
            command = f"python -m benchmarks.variants {args.comparison} --only {one.name}"
            result = perceptron.train_and_evaluate(
                treebank, system, int(seed), args.epochs, command, "learner" in str(one.settings)
            )
            dump(result, target)
            uas, las = (100 * result["dev"]["scores"][name] for name in ("uas_all", "las_all"))
            print(f"{target.name}: dev UAS {uas:.2f} LAS {las:.2f}", flush=True)
    return 0


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
