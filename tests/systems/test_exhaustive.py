"""Costs and losses are the true ones, by search; see exhaustive.py for more words."""

from __future__ import annotations

import pytest

from tests.exhaustive import CASES, Case, check, key, main, row
from tests.naive.trees import forests, golds, roots_per_sentence

# Enough to try every tree up to n = 3, and a sample of those of n = 4.
PAIRS = 150_000

EXACT = [case for case in CASES if case.exact]


@pytest.mark.parametrize(
    "case", EXACT, ids=lambda case: f"{case.system}-{case.name}".replace(", ", "-")
)
def test_costs_and_losses(case: Case) -> None:
    longest = 3 if case.labels is not None or case.constraints else 4
    searched = {"repairs", "unshift", "push"} & set(case.options)
    for n in range(1, longest + 1):
        result = check(case, n, max_pairs=PAIRS // 5 if searched else PAIRS, seed=n)
        assert result.triples > 0
        assert not result.failed, "\n".join([row(result), *result.examples])


def test_reduce_costs_as_printed() -> None:
    """HGJ13's formulas for non-monotonic REDUCE alone call a lossy REDUCE free; elsewhere right."""
    printed = [case for case in CASES if case.formula == "paper"]
    wrong = [case for case in printed if not case.exact]
    assert len(printed) == 4
    assert [case.options for case in wrong] == [{"nonmonotonic_reduce": True}]
    assert [check(wrong[0], n).wrong_costs for n in (3, 4)] == [51, 1259]


def test_crossing_gold_is_never_overrated() -> None:
    """On crossing gold trees the loss told is a lower bound, exact for most configurations."""
    for case in CASES:
        if case.system == "arc_eager" and not case.projective:
            for n in (3, 4):
                result = check(case, n)
                assert 0 < result.wrong_losses < result.trees * result.configurations / 10
                assert result.losses_too_high == 0


def test_all_trees_are_there() -> None:
    assert [len(list(forests(n, projective=True))) for n in range(1, 6)] == [1, 3, 12, 55, 273]
    assert [len(list(forests(n, projective=False))) for n in range(1, 6)] == [1, 3, 16, 125, 1296]
    full = golds(4, segment=True, one_root=True)
    assert all(set(roots_per_sentence(tree.heads, tree.sent_starts)) == {1} for tree in full)
    assert len(golds(2, partial=True, labels=("a", None))) == 21


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--max-n", "2", "--only", "nonmonotonic_left, unlabelled, partial"]) == 0
    table = capsys.readouterr().out
    assert "| arc_eager | nonmonotonic_left, unlabelled, partial gold | 2 | 8 | 14 |" in table


def test_configurations_are_told_apart() -> None:
    system = EXACT[0].create()
    state = system.initial(2)
    after = state.copy()
    system.apply(after, system.actions(after)[0])
    assert key(state) == key(system.initial(2)) != key(after)
