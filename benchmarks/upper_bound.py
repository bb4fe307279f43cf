"""How much a parser with non-monotonic moves could gain at most (HGJ13, section 8).

    python -m benchmarks.upper_bound training/jackknife/UD_Gothic-PROIEL --seeds 1 2 3

L+D by the combined oracle, with the paper's learner (benchmarks.variants hgj13_linear), is trained
on a treebank of benchmarks.jackknife, and parses dev twice: by itself, and with the oracle deciding
when a non-monotonic move is made, and the model all other moves. Where gold arcs cross, the costs
by which the oracle decides are lower bounds.

Result: a table, and benchmarks/runs/upper_bound/TREEBANK.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from benchmarks import perceptron
from benchmarks.common import command_line, program, record
from benchmarks.formats import markdown
from benchmarks.papers import VARIANTS
from benchmarks.systems import parse_system
from benchmarks.treebanks import (
    Treebank,
    add_run_arguments,
    add_source_arguments,
    open_treebank,
    path_of,
)
from spacy_nmparse.cli.records import dump
from spacy_nmparse.lab.repair_use import find_repairs
from spacy_nmparse.ud.corpus import read_docs

COUNTS = ("heads", "right", "at_most")


def bounded(treebank: Treebank, seed: int, epochs: int) -> dict[str, int]:
    """Of one training: words of dev with a known head, those whose head is right, and those whose
    head is right where the oracle decides the non-monotonic moves."""
    variants = {one.name: one for one in VARIANTS["hgj13_linear"]}
    system = parse_system(variants["linear_both_combined"].as_argument())
    nlp = perceptron.train(treebank, system, seed, epochs)
    docs = read_docs(treebank.corpus["dev"], nlp.vocab)
    found = find_repairs(nlp, docs, n_examples=0).as_dict()
    return {name: found[name] for name in COUNTS}


def cells(seeds: Sequence[dict[str, int]]) -> list[str]:
    """The cells of a treebank: mean UAS by the model alone, with the oracle, and the difference."""
    alone, bound = (
        mean(100 * one[name] / one["heads"] for one in seeds) for name in ("right", "at_most")
    )
    return [str(len(seeds)), f"{alone:.2f}", f"{bound:.2f}", f"{bound - alone:+.2f}"]


HEADER = ("treebank", "seeds", "UAS", "oracle decides L and D", "difference")


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("treebanks", nargs="+", type=path_of, help="of benchmarks.jackknife")
    add_source_arguments(parser)
    add_run_arguments(parser, "upper_bound", 15)
    args = parser.parse_args(argv)
    rows = []
    for folder in args.treebanks:
        treebank = open_treebank(args, folder)
        seeds: list[dict[str, Any]] = []
        for seed in args.seeds:
            seeds.append({"seed": seed, **bounded(treebank, seed, args.epochs)})
            result = {"treebank": treebank.name, "files": treebank.files, "epochs": args.epochs}
            dump({**result, **record(), "seeds": seeds}, args.runs / f"{treebank.name}.json")
        rows.append([treebank.name, *cells(seeds)])
    print(markdown(HEADER, rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
