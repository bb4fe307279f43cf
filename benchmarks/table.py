"""Print the runs of a benchmark as Markdown tables.

    python -m benchmarks.table
    python -m benchmarks.table benchmarks/runs/accuracy --split test_preset --baseline nm_parser
    python -m benchmarks.table --systems covington nl_covington_parser --baseline covington
    python -m benchmarks.table benchmarks/runs/compare --baseline spacy_parser udpipe_swap

Per treebank: the mean and standard deviation over seeds, `conll` by the program of the CoNLL 2018
shared task; each system against each baseline on the seeds that both have: the difference, its 95 %
interval and two-sided p by paired bootstrap over sentences (10,000 samples, the seeds' counts added
up), and Wilcoxon's signed-rank test over seeds (two-sided; with n seeds it cannot go below
2 / 2^n); and LAS by length of the gold arc. UDPipe, whose seed cannot be set, is compared with all
seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.common import RUNS, command_line, program, show
from benchmarks.formats import markdown, mean_and_deviation
from benchmarks.runs import Runs, compare_runs, load
from spacy_nmparse.analysis.significance import TESTED
from spacy_nmparse.pipe.files import write_files

METRICS = (
    "uas_all",
    "las_all",
    "dep_uas",
    "dep_las",
    "dep_clas",
    "dep_exact",
    "nonproj_p",
    "nonproj_r",
    "nonproj_f",
    "sents_f",
)
CONLL = ("UAS", "LAS", "CLAS")
SPEED = "words_per_second"
BASELINES = ("spacy_parser", "spacy_parser_multihash", "udpipe_projective", "udpipe_swap")


def scores_table(systems: Mapping[str, Runs], split: str) -> str:
    """Means and standard deviations over seeds."""
    rows = []
    for name, runs in sorted(systems.items()):
        found = [run[split] for run in runs.values()]
        training = [run["training"] for run in runs.values()]
        scores = [[one["scores"].get(metric) for one in found] for metric in METRICS]
        scores += [[one.get("conll18", {}).get(metric) for one in found] for metric in CONLL]
        speeds = [[one[SPEED] for one in found], [one[SPEED] for one in training]]
        seconds = [one["seconds"] for one in training]
        rows.append(
            [
                *(name, str(len(runs))),
                *(mean_and_deviation(values, 100, 2) for values in scores),
                *(mean_and_deviation(values, 1, 0) for values in (*speeds, seconds)),
            ]
        )
    header = ["system", "seeds", *METRICS, *(f"conll {metric}" for metric in CONLL)]
    return markdown([*header, "words/s", "train words/s", "train s"], rows)


def differences_table(systems: Mapping[str, Runs], baseline: str, split: str) -> str:
    """Each system against a baseline; empty where they have no seed in common."""
    rows = []
    for name, runs in sorted(systems.items()):
        base = systems[baseline]
        if baseline.startswith("udpipe"):
            base = dict.fromkeys(runs, next(iter(base.values())))
        for metric in TESTED if name != baseline else ():
            found = compare_runs(runs, base, split, metric)
            if found is not None:
                interval = f"{found.low:+.2f} … {found.high:+.2f}"
                row = [name, metric, str(found.n_seeds), f"{found.difference:+.2f}", interval]
                ps = (found.p_bootstrap, found.p_wilcoxon)
                rows.append([*row, *("-" if p is None else f"{p:.4f}" for p in ps)])
    header = [f"against {baseline}", "metric", "seeds", "difference"]
    header += ["95 % interval", "p bootstrap", "p Wilcoxon"]
    return markdown(header, rows) if rows else ""


def report(
    results: Mapping[str, Mapping[str, Runs]],
    split: str,
    baselines: Sequence[str],
    wanted: Sequence[str] | None = None,
) -> str:
    """Write the tables of one of the evaluations (`split`) of runs, as from `load`, as Markdown:
    the systems that are wanted (None: all) against the baselines that have results. Raises a
    ValueError if there is no result of a wanted system, or the systems of a treebank were evaluated
    on different sentences."""
    known = {name for systems in results.values() for name in systems}
    for name in wanted or ():
        if name not in known:
            raise ValueError(f"There are no results of {name!r}, but of {', '.join(sorted(known))}")
    parts = []
    for treebank, every in results.items():
        systems: dict[str, Runs] = {}
        for name in every:
            runs = {seed: run for seed, run in every[name].items() if split in run}
            if runs and (wanted is None or name in wanted):
                systems[name] = runs
        if not systems:
            continue
        first = next(run for runs in systems.values() for run in runs.values())
        parts.append(f"## {treebank} ({split}, snapshot {first['snapshot']})")
        parts.append(scores_table(systems, split))
        parts += [differences_table(systems, one, split) for one in baselines if one in systems]
    return "\n\n".join(filter(None, parts))


@program
def main(argv: Sequence[str] | None) -> int | None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("runs", type=Path, nargs="?", default=RUNS / "accuracy")
    parser.add_argument(
        "--split", choices=("dev", "test", "dev_preset", "test_preset"), default="dev"
    )
    parser.add_argument("--baseline", nargs="+", default=BASELINES, metavar="NAME")
    parser.add_argument("--systems", nargs="+", metavar="NAME", help="report these alone")
    parser.add_argument("-o", "--output", type=Path, help="also write the tables to this file")
    args = parser.parse_args(argv)
    text = report(load(args.runs), args.split, args.baseline, args.systems)
    show(text)
    if args.output:
        write_files({args.output: f"{text}\n".encode()})


if __name__ == "__main__":
    raise SystemExit(main())
