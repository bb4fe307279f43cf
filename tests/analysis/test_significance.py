"""Tests of significance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spacy_nmparse.analysis.significance import bootstrap, compare, holm, require_scipy, signed_rank

pytest.importorskip("scipy")


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([1, 2, 3, 4, 5], 2 / 2**5),
        ([1, 2, 3], 2 / 2**3),
        ([-1, 2, 3], 4 / 2**3),
        ([0, 0], 1.0),
        ([], 1.0),
        ([1, -1], 1.0),
    ],
)
def test_signed_rank(differences: list[float], expected: float) -> None:
    assert signed_rank(differences) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("ps", "expected"),
    [
        ([], []),
        ([0.05], [True]),
        ([0.0251, 0.04], [False, False]),
        ([0.04, 0.025], [True, True]),
        ([0.0124, 0.9, 0.0166, 0.03], [True, False, True, False]),
        ([0.02, 0.02, 0.02], [False, False, False]),
    ],
)
def test_holm(ps: list[float], expected: list[bool]) -> None:
    """The least p may be 0.05 / n at most, the next 0.05 / (n - 1); none passes after a failure."""
    assert holm(ps) == expected


def test_bootstrap_finds_no_difference_in_noise() -> None:
    generator = np.random.default_rng(3)
    noise = generator.integers(-1, 2, 500)
    noise[-1] -= noise.sum()
    low, high, p = bootstrap(noise, np.full(500, 10), samples=2000)
    assert low < 0 < high
    assert p > 0.8
    sigma = math.sqrt(float((noise**2).mean()) / 500) / 10
    assert high - low == pytest.approx(2 * 1.96 * sigma, rel=0.1)


def counted(*right: int) -> dict[str, dict[str, object]]:
    """A run over sentences of ten words, with so many right in each."""
    score = sum(right) / (10 * len(right))
    counts = {"words": [10] * len(right), "heads": list(right), "labelled": list(right)}
    return {"per_sentence": counts, "scores": {"uas_all": score, "las_all": score}}


def test_systems_with_several_runs() -> None:
    better, worse = [counted(9, 8, 7), counted(9, 9, 9)], [counted(5, 5, 5), counted(5, 4, 3)]
    found = compare(better, worse, "las_all")
    assert found.n_seeds == 2
    assert found.difference == pytest.approx(100 * (51 / 60 - 27 / 60))
    assert found.low <= found.difference <= found.high
    assert found.p_bootstrap == 0.0002 and found.p_wilcoxon == 0.5
    assert compare(better, worse[:1], "las_all").p_wilcoxon is None
    assert compare(better, better[::-1], "uas_all").p_bootstrap == 1
    with pytest.raises(ValueError, match="same sentences"):
        compare(better, [counted(1, 2)], "las_all")


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacy_nmparse.analysis.significance.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install scipy"):
        require_scipy()
