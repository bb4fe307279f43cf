"""How sure a difference between two systems is, from their runs."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

#: The metrics that are tested, and the count per sentence that each is made of.
TESTED = {"uas_all": "heads", "las_all": "labelled"}

Runs = dict[int, dict[str, Any]]  # the runs of one system on one treebank, by seed


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
    """Read runs.

    Args:
        folder: The folder with one folder per treebank.

    Returns:
        The runs by treebank, system and seed.

    Raises:
        FileNotFoundError: If there are none.
    """
    found: dict[str, dict[str, Runs]] = {}
    for path in sorted(folder.glob("*/*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        systems = found.setdefault(run["treebank"], {})
        systems.setdefault(run["system"], {})[run["seed"]] = run
    if not found:
        raise FileNotFoundError(f"No runs in {folder}: make some with benchmarks.accuracy.")
    return found


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
        system: The runs of the system.
        baseline: The runs of the baseline.
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
