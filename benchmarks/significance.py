"""How sure a difference between two systems is, from their runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.runs import Runs

#: The metrics that are tested, and the count per sentence that each is made of.
TESTED = {"uas_all": "heads", "las_all": "labelled"}
#: How likely the differences of a table are to have one that is beyond chance where there is none.
LEVEL = 0.05


@dataclass(frozen=True)
class Comparison:
    """How a system compares with the baseline in one metric.

    Attributes:
        n_seeds: The seeds that both have.
        difference: System minus baseline, in points.
        low: Lower end of the 95 % interval.
        high: Upper end.
        p_bootstrap: Two-sided, over sentences.
        p_wilcoxon: Two-sided, over seeds; with n seeds it cannot go below 2 / 2^n.
    """

    n_seeds: int
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_wilcoxon: float


def signed_rank(differences: Sequence[float]) -> float:
    """The two-sided p of Wilcoxon's signed-rank test on paired differences; zeros are left out."""
    return float(stats.wilcoxon(differences).pvalue) if any(differences) else 1.0


def holm(ps: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Tell which of several differences are beyond chance, by Holm's correction.

    Args:
        ps: The p of each difference.
        level: How likely one of them is to pass by chance.

    Returns:
        For each, in the given order, whether it passes: the least p must not exceed level / n, the
        next level / (n - 1), and so on; none passes after one that does not.
    """
    passed = [False] * len(ps)
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        if ps[place] > level / (len(ps) - rank):
            break
        passed[place] = True
    return passed


def bootstrap(
    differences: np.ndarray, words: np.ndarray, samples: int = 10_000
) -> tuple[float, float, float]:
    """Resample sentences to see how sure a difference is.

    Args:
        differences: Per sentence, the words that one system has right more than the other.
        words: Per sentence, the words.
        samples: How often to resample.

    Returns:
        The 2.5 % and 97.5 % quantiles of the difference per word, and the two-sided p.
    """

    def per_word(differences: np.ndarray, words: np.ndarray, axis: int) -> np.ndarray:
        share: np.ndarray = differences.sum(axis) / words.sum(axis)
        return share

    found = stats.bootstrap(
        (differences, words),
        per_word,
        paired=True,
        n_resamples=samples,
        batch=100,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    low, high = found.confidence_interval
    drawn = found.bootstrap_distribution
    tail = max(min(np.mean(drawn <= 0), np.mean(drawn >= 0)), 1 / samples)
    return float(low), float(high), min(1.0, 2 * float(tail))


def compare(system: Runs, baseline: Runs, split: str, metric: str) -> Comparison | None:
    """Compare the runs of a system with the baseline's in one of TESTED; None if they have no seed
    in common. Raises a ValueError if the two were not evaluated on the same sentences."""
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
