"""Print the results of benchmarks/accuracy.py as Markdown tables.

    python benchmarks/table.py
    python benchmarks/table.py benchmarks/results/accuracy --split test_preset --baseline nm_parser
    python benchmarks/table.py --systems covington nl_covington_parser --baseline covington

Per treebank: the mean and standard deviation over seeds; then each system against the baseline on
the seeds that both have: the difference, its 95 % interval and two-sided p by paired bootstrap over
sentences (10,000 samples, the seeds' counts added up), and Wilcoxon's signed-rank test over seeds
(exact, two-sided; with n seeds it cannot go below 2 / 2^n).
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
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
#: The metrics that are tested, and the count per sentence that each is made of.
TESTED = {"uas_all": "heads", "las_all": "labelled"}

Runs = dict[int, dict[str, Any]]  # the results of one system on one treebank, by seed


@dataclass(frozen=True)
class Comparison:
    """How a system compares with the baseline in one metric.

    Attributes:
        n_seeds: The seeds that both have.
        difference: System minus baseline, in points.
        low: Lower end of the 95 % interval.
        high: Upper end.
        p_bootstrap: Two-sided, over sentences.
        p_wilcoxon: Two-sided, over seeds.
    """

    n_seeds: int
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_wilcoxon: float


def load(folder: Path) -> dict[str, dict[str, Runs]]:
    """Read the result files.

    Args:
        folder: The folder with one folder per treebank.

    Returns:
        The results by treebank, system and seed.

    Raises:
        FileNotFoundError: If there are none.
    """
    results: dict[str, dict[str, Runs]] = {}
    for path in sorted(folder.glob("*/*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        systems = results.setdefault(run["treebank"], {})
        systems.setdefault(run["system"], {})[run["seed"]] = run
    if not results:
        raise FileNotFoundError(f"No results in {folder}: make some with benchmarks/accuracy.py.")
    return results


def signed_rank(differences: Sequence[float]) -> float:
    """Compute the p value of Wilcoxon's signed-rank test.

    Args:
        differences: The paired differences; zeros are left out.

    Returns:
        The two-sided p: exact up to 16 differences, by the normal approximation beyond.
    """
    values = [value for value in differences if value]
    if not values:
        return 1.0
    order = sorted(values, key=abs)
    ranks: list[float] = []
    for _, group in itertools.groupby(order, key=abs):
        size = len(list(group))
        ranks += [len(ranks) + (size + 1) / 2] * size
    total = sum(ranks)
    positive = sum(rank for rank, value in zip(ranks, order, strict=True) if value > 0)
    extreme = abs(positive - total / 2)
    if len(ranks) <= 16:
        sums = np.zeros(1)
        for rank in ranks:
            sums = np.concatenate((sums, sums + rank))
        return float(np.mean(np.abs(sums - total / 2) >= extreme - 1e-9))
    sigma = math.sqrt(sum(rank * rank for rank in ranks) / 4)
    return math.erfc(extreme / sigma / math.sqrt(2))


def bootstrap(
    differences: np.ndarray, words: np.ndarray, samples: int = 10_000, seed: int = 0
) -> tuple[float, float, float]:
    """Resample sentences to see how sure a difference is.

    Args:
        differences: Per sentence, the words that one system has right more than the other.
        words: Per sentence, the words.
        samples: How often to resample.
        seed: The random seed.

    Returns:
        The 2.5 % and 97.5 % quantiles of the difference per word, and the two-sided p.
    """
    generator = np.random.default_rng(seed)
    n = len(words)
    found = np.empty(samples)
    for i in range(samples):
        chosen = generator.integers(0, n, n)
        found[i] = differences[chosen].sum() / words[chosen].sum()
    low, high = np.quantile(found, (0.025, 0.975))
    tail = min(float(np.mean(found <= 0)), float(np.mean(found >= 0)))
    return float(low), float(high), min(1.0, 2 * max(tail, 1 / samples))


def compare(system: Runs, baseline: Runs, split: str, metric: str) -> Comparison | None:
    """Compare a system with the baseline.

    Args:
        system: The results of the system.
        baseline: The results of the baseline.
        split: The evaluation to compare.
        metric: One of TESTED.

    Returns:
        The comparison; None if they have no seed in common.

    Raises:
        ValueError: If the two were not evaluated on the same sentences.
    """
    seeds = sorted(set(system) & set(baseline))
    if not seeds:
        return None

    def counts(run: dict[str, Any], name: str) -> np.ndarray:
        return np.asarray(run[split]["per_sentence"][name], dtype=np.int64)

    words = counts(baseline[seeds[0]], "words")
    differences = np.zeros(len(words), dtype=np.int64)
    for seed in seeds:
        for run in (system[seed], baseline[seed]):
            if not np.array_equal(counts(run, "words"), words):
                raise ValueError(
                    f"{run['system']}-seed{seed} was evaluated on other sentences of "
                    f"{run['treebank']} {split} than the rest: delete its file and run it again."
                )
        column = TESTED[metric]
        differences += counts(system[seed], column) - counts(baseline[seed], column)
    low, high, p_bootstrap = bootstrap(differences / len(seeds), words)
    by_seed = [
        system[seed][split]["scores"][metric] - baseline[seed][split]["scores"][metric]
        for seed in seeds
    ]
    return Comparison(
        len(seeds),
        100 * float(differences.sum()) / len(seeds) / float(words.sum()),
        100 * low,
        100 * high,
        p_bootstrap,
        signed_rank(by_seed),
    )


def mean_and_deviation(values: Iterable[float | None], factor: float, digits: int) -> str:
    """Format values as mean ± standard deviation.

    Args:
        values: The values, None where there is none.
        factor: What to multiply by.
        digits: Digits after the point.

    Returns:
        The text, "-" if there is no value.
    """
    known = [value * factor for value in values if value is not None]
    if not known:
        return "-"
    text = f"{statistics.fmean(known):.{digits}f}"
    return f"{text} ± {statistics.stdev(known):.{digits}f}" if len(known) > 1 else text


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """Format a table.

    Args:
        header: The column names.
        rows: The cells, as many per row.

    Returns:
        An aligned Markdown table: the first column to the left, the others to the right.
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: list[str]) -> str:
        padded = [cells[0].ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([line(header), line(rule), *map(line, rows)])


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
    found = {name for systems in results.values() for name in systems}
    for name in wanted or ():
        if name not in found:
            raise ValueError(f"There are no results of {name!r}, but of {', '.join(sorted(found))}")
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = ROOT / "benchmarks" / "results" / "accuracy"
    parser.add_argument("results", type=Path, nargs="?", default=default)
    parser.add_argument(
        "--split", choices=("dev", "test", "dev_preset", "test_preset"), default="dev"
    )
    parser.add_argument("--baseline", default="spacy_parser_affixes")
    parser.add_argument("--systems", nargs="+", metavar="NAME", help="report these alone")
    parser.add_argument("-o", "--output", type=Path, help="also write the tables to this file")
    args = parser.parse_args(argv)
    try:
        text = report(load(args.results), args.split, args.baseline, args.systems)
    except (OSError, ValueError) as error:
        print(f"table.py: {error}", file=sys.stderr)
        return 1
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    print(text)
    if args.output:
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
