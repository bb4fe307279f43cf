"""Print the runs of benchmarks.accuracy as Markdown tables.

    python -m benchmarks.table
    python -m benchmarks.table benchmarks/runs/accuracy --split test_preset --baseline nm_parser
    python -m benchmarks.table --systems covington nl_covington_parser --baseline covington

Per treebank: the mean and standard deviation over seeds; then each system against the baseline on
the seeds that both have: the difference, its 95 % interval and two-sided p by paired bootstrap over
sentences (10,000 samples, the seeds' counts added up), and Wilcoxon's signed-rank test over seeds
(exact, two-sided; with n seeds it cannot go below 2 / 2^n).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import RUNS, command_line, complain, show
from benchmarks.formats import markdown, mean_and_deviation
from benchmarks.significance import TESTED, Runs, compare, load

METRICS = (
    "uas_all",
    "las_all",
    "dep_clas",
    "dep_exact",
    "nonproj_p",
    "nonproj_r",
    "nonproj_f",
    "sents_f",
)
SPEED = "words_per_second"


def report(
    results: dict[str, dict[str, Runs]],
    split: str,
    baseline: str,
    wanted: Sequence[str] | None = None,
) -> str:
    """Write the tables.

    Args:
        results: As from `load`.
        split: The evaluation to report.
        baseline: The system to compare with.
        wanted: The systems to report; None for all.

    Returns:
        Markdown.

    Raises:
        ValueError: If there is no result of a wanted system.
    """
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
        rows = []
        for name, runs in sorted(systems.items()):
            evaluations = [run[split] for run in runs.values()]
            row = [name, str(len(runs))]
            for metric in METRICS:
                values = [evaluation["scores"].get(metric) for evaluation in evaluations]
                row.append(mean_and_deviation(values, 100, 2))
            row.append(mean_and_deviation((e[SPEED] for e in evaluations), 1, 0))
            training = [run["training"] for run in runs.values()]
            row.append(mean_and_deviation((t[SPEED] for t in training), 1, 0))
            row.append(mean_and_deviation((t["seconds"] for t in training), 1, 0))
            rows.append(row)
        header = ["system", "seeds", *METRICS, "words/s", "train words/s", "train s"]
        parts.append(markdown(header, rows))
        if baseline not in systems or len(systems) < 2:
            continue
        rows = []
        for name, runs in sorted(systems.items()):
            for metric in TESTED if name != baseline else ():
                found = compare(runs, systems[baseline], split, metric)
                if found is not None:
                    rows.append(
                        [
                            name,
                            metric,
                            str(found.n_seeds),
                            f"{found.difference:+.2f}",
                            f"{found.low:+.2f} … {found.high:+.2f}",
                            f"{found.p_bootstrap:.4f}",
                            f"{found.p_wilcoxon:.4f}",
                        ]
                    )
        if rows:
            header = ["against " + baseline, "metric", "seeds", "difference"]
            header += ["95 % interval", "p bootstrap", "p Wilcoxon"]
            parts.append(markdown(header, rows))
    return "\n\n".join(parts)


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = command_line(__doc__)
    parser.add_argument("runs", type=Path, nargs="?", default=RUNS / "accuracy")
    parser.add_argument(
        "--split", choices=("dev", "test", "dev_preset", "test_preset"), default="dev"
    )
    parser.add_argument("--baseline", default="spacy_parser")
    parser.add_argument("--systems", nargs="+", metavar="NAME", help="report these alone")
    parser.add_argument("-o", "--output", type=Path, help="also write the tables to this file")
    args = parser.parse_args(argv)
    try:
        text = report(load(args.runs), args.split, args.baseline, args.systems)
    except (OSError, ValueError) as error:
        return complain("table", error)
    show(text)
    if args.output:
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
