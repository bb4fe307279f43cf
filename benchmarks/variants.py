"""Train the variants of a parser that a table of a paper compares, and make the table.

    python -m benchmarks.variants rep assets/UD_Gothic-PROIEL --epochs 12 --seeds 1 2 3 4 5
    python -m benchmarks.variants rep

Comparisons:
  rep     repair transitions, one by one: the draft's table of UAS by iteration
  rep_linear
          the same with the draft's learner and features, and decoupled repairs; on treebanks that
          benchmarks.jackknife has tagged; its epochs are the draft's iterations, from 0 on
  rep_labels, rep_penalty_monotonic, rep_penalty_left, rep_penalty_all_repairs
          the same without features of labels; with other penalties
  hgj13   non-monotonic LEFT-ARC (L) and REDUCE (D), by oracle; Unshift (Honnibal, Goldberg &
          Johnson 2013, Tables 1, 2 and 4)
  hgj13_linear
          the same with the paper's learner, on treebanks that benchmarks.jackknife has tagged: 15
          iterations, the averaged weights of the end (see benchmarks/perceptron.py); also parsers
          that never or always SHIFT (section 4)
  hgj13_explore
          monotonic, L, D and L+D, following the model with probability 0.9
  hgj13_beam
          monotonic and L+D, trained and searched with a beam (section 9)
  bn15_linear, bn15_beam
          the five oracles of SwapStandard with the paper's learner, greedy, and trained and
          searched with a beam (Björkelund & Nivre 2015, Tables 2 to 5); on treebanks and for
          iterations as hgj13_linear
  bn15_latent
          what a beam learns against, where the oracle leaves a choice: the best right hypothesis of
          each step, or the right sequence that is best at the end of the sentence (section 5)
  fg18    Covington and NL-Covington, by oracle; arc-swift (Fernández-González & Gómez-Rodríguez
          2018, Tables 1 and 3)
  fg18_roots
          the same by oracle where no move draws ROOT's arc

With treebanks, what has no result file yet is trained by benchmarks.accuracy, one file a variant
and seed: benchmarks/runs/variants/TREEBANK/VARIANT-seedN.json. Then the tables of benchmarks.table
are made of all result files that there are, on dev (or, with `--split test`, on test), against the
first row. `python -m benchmarks.report variants` also keeps UAS by epoch, and how the non-monotonic
moves were used by the best epoch's parsers (`nmparse repairs`).
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks import accuracy, perceptron, table
from benchmarks.common import command_line, program, show
from benchmarks.papers import LINEAR, SPLITS, VARIANTS, Variant
from benchmarks.runs import Keeper, Runs, load
from benchmarks.systems import parse_system
from benchmarks.treebanks import add_run_arguments, add_source_arguments, open_treebank, path_of
from spacy_nmparse.cli.records import parse_settings

#: Words' tags are not learned: the systems alone are compared.
UNTAGGED = "components.parser.model.tag_weight=0.0"


def report(results: Mapping[str, Mapping[str, Runs]], comparison: str, split: str) -> str:
    """Write the tables of a comparison as Markdown; a ValueError if no treebank has results of two
    of its variants on the split. `results` are as from `runs.load`."""
    names = [one.name for one in VARIANTS[comparison]]
    parts = []
    for treebank, systems in sorted(results.items()):
        found = {
            name: systems[name]
            for name in names
            if any(split in run for run in systems.get(name, {}).values())
        }
        if len(found) > 1:
            parts.append(table.report({treebank: found}, split, [next(iter(found))]))
    if not parts:
        raise ValueError(
            f"No treebank has results of two of {', '.join(names)} on {split}: name one to train "
            "them on."
        )
    return "\n\n".join(parts)


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("comparison", choices=tuple(VARIANTS))
    parser.add_argument("treebanks", nargs="*", type=path_of, help="folders of UD treebanks")
    parser.add_argument("--only", nargs="+", metavar="VARIANT", help="train these alone")
    parser.add_argument("--split", choices=SPLITS, default=SPLITS[0], help="the part to report")
    parser.add_argument("--switch", action="store_true", help="use the switch of docs/speed.md")
    add_source_arguments(parser)
    add_run_arguments(parser, "variants", epochs=12)
    args = parser.parse_args(argv)
    listed = VARIANTS[args.comparison]
    wanted = [one for one in listed if args.only is None or one.name in args.only]
    train = train_linear if all(one.base in LINEAR for one in wanted) else train_neural
    status = max([train(args, folder, wanted) for folder in args.treebanks], default=0)
    show(report(load(args.runs), args.comparison, args.split))
    return status


def train_linear(args: argparse.Namespace, folder: Path, wanted: Sequence[Variant]) -> int:
    """Train variants with the linear scorer on a treebank, one after the other; the exit status.
    Raises a ValueError for a setting that this training does not read."""
    settings = parse_settings(args.set)
    perceptron.check_settings(settings)
    treebank = open_treebank(args, folder)
    keeper = Keeper("variants", args.runs / treebank.name)
    for seed, one in itertools.product(args.seeds, wanted):
        system = parse_system(one.as_argument()).changed(settings)
        command = f"python -m benchmarks.variants {args.comparison} --only {one.name}"
        each = "learner" in str(one.settings)
        repairs = one.base == "nm_parser_linear"
        of = (treebank, system, seed, args.epochs, command, each, repairs)
        expected = {
            "files": treebank.files,
            "overrides": system.overrides,
            "epochs": args.epochs,
        }
        keeper.keep(one.name, seed, partial(perceptron.train_and_evaluate, *of), expected)
    return keeper.status()


def train_neural(args: argparse.Namespace, folder: Path, wanted: Sequence[Variant]) -> int:
    """Train variants with a neural scorer on a treebank by benchmarks.accuracy; the exit status."""
    more = ["--set", UNTAGGED, "--evaluate", *SPLITS, "--moves"]
    more += ["--switch"] * args.switch
    return accuracy.train(args, folder, [one.as_argument() for one in wanted], more)


if __name__ == "__main__":
    raise SystemExit(main())
