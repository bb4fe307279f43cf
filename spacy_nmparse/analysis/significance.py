"""How sure a difference between two systems is, from their runs. The tests need SciPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

#: The metrics that are tested, and the count per sentence that each is made of.
TESTED = {"uas_all": "heads", "las_all": "labelled"}
#: How likely the differences of a table are to have one that is beyond chance where there is none.
LEVEL = 0.05


@dataclass(frozen=True)
class Comparison:
    """How a system compares with a baseline in one metric.

    Attributes:
        n_seeds: The runs of each of the two; 0, where one has more than the other.
        difference: System minus baseline, in points.
        low: Lower end of the 95 % interval.
        high: Upper end.
        p_bootstrap: Two-sided, over sentences.
        p_wilcoxon: Two-sided, over seeds; with n seeds it cannot go below 2 / 2^n. None where one
            of the two has more runs than the other.
    """

    n_seeds: int
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_wilcoxon: float | None


def require_scipy() -> None:
    """Check that the tests can run.

    Raises:
        ImportError: If SciPy is not installed.
    """
    if find_spec("scipy") is None:
        raise ImportError(
            "The tests of significance need SciPy: install this package with its extra demo, or "
            "python -m pip install scipy"
        )


def signed_rank(differences: Sequence[float]) -> float:
    """The two-sided p of Wilcoxon's signed-rank test on paired differences; zeros are left out."""
    from scipy import stats

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
    from scipy import stats

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


def compare(
    system: Sequence[Mapping[str, Any]], baseline: Sequence[Mapping[str, Any]], metric: str
) -> Comparison:
    """Compare the runs of a system with those of a baseline.

    Args:
        system: What ``spacy_nmparse.analysis.evaluate.score_parses`` says of each run.
        baseline: Likewise. Where the two have as many runs, those in the same places are pairs.
        metric: One of TESTED.

    Raises:
        ValueError: If the runs were not evaluated on the same sentences.
    """

    def counts(run: Mapping[str, Any], name: str) -> np.ndarray:
        return np.asarray(run["per_sentence"][name], dtype=np.int64)

    words = counts(baseline[0], "words")
    for run in (*system, *baseline):
        if not np.array_equal(counts(run, "words"), words):
            raise ValueError("The runs were not evaluated on the same sentences.")
    right, base = (
        sum((counts(run, TESTED[metric]) for run in runs), np.zeros_like(words))
        for runs in (system, baseline)
    )
    n, m = len(system), len(baseline)
    differences = (right * m - base * n) / (n * m)
    low, high, p_bootstrap = bootstrap(differences, words)
    p_wilcoxon = None
    if n == m:
        pairs = zip(system, baseline, strict=True)
        p_wilcoxon = signed_rank([a["scores"][metric] - b["scores"][metric] for a, b in pairs])
    return Comparison(
        n if n == m else 0,
        100 * int((right * m - base * n).sum()) / (n * m) / float(words.sum()),
        100 * low,
        100 * high,
        p_bootstrap,
        p_wilcoxon,
    )
