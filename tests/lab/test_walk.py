"""Random walks: what must hold of configurations, moves and costs; see tests/fuzz.py for more."""

from __future__ import annotations

import random

import pytest

from spacy_nmparse import systems
from spacy_nmparse.lab.walk import random_walk
from spacy_nmparse.systems import Gold
from tests.exhaustive_cases import Case
from tests.fuzz import (
    fuzz,
    main,
    random_crossing,
    random_projective,
    random_swapped,
    random_text,
    try_text,
    variants,
)
from tests.naive.trees import is_forest, is_projective


@pytest.mark.parametrize(
    ("transitions", "seed"), [(20_000, 0), pytest.param(150_000, 1, marks=pytest.mark.slow)]
)
def test_fuzz(transitions: int, seed: int) -> None:
    counts, faults = fuzz(transitions, seed)
    assert faults == [] and set(counts) == set(systems.names())
    for name, found in counts.items():
        assert found["transitions"] > transitions / 60
        assert found["judged"] > transitions / 120
        assert found["trees"] > 15
        assert (found["exact"] > transitions / 600) == (name != "swap_standard")


def test_same_seed_same_walks() -> None:
    once, again, other = (fuzz(2_000, seed, "covington") for seed in (3, 3, 4))
    assert once == again != other


def test_trees_are_as_said() -> None:
    rng = random.Random(0)
    crossing = 0
    for _ in range(200):
        n, one_root = rng.randint(1, 12), rng.random() < 0.5
        projective, other = random_projective(n, one_root, rng), random_crossing(n, one_root, rng)
        swapped = random_swapped(n, one_root, rng)
        assert is_projective(tuple(projective))
        crossing += not is_projective(tuple(other))
        for heads in (projective, other, swapped):
            assert is_forest(tuple(heads))
            assert not one_root or sum(h == w for w, h in enumerate(heads)) == 1
    assert crossing > 50


def test_all_options_are_walked() -> None:
    cases = variants()
    assert {case.system for case in cases} == set(systems.names())
    options = {(key, value) for case in cases for key, value in case.options.items() if value}
    assert {("nonmonotonic", True), ("explicit_root", True)} <= options
    assert {("push", "shift"), ("push", "right_arc"), ("max_length", 1)} <= options
    assert {("unshift", True), ("root_first", True), ("buffer_arcs", True)} <= options
    assert ("repairs", ("right_lower", "right_raise", "left_invert")) in options


def test_bad_arguments() -> None:
    system = systems.create("arc_eager")
    with pytest.raises(ValueError, match="oracle"):
        random_walk(system, system.initial(2), 0, Gold([0, 0]), oracle="lazy")
    with pytest.raises(ValueError, match="3 words"):
        random_walk(system, system.initial(2), 0, Gold([0, 0, 0]))


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--transitions", "500", "--system", "arc_hybrid"]) == 0
    assert "| arc_hybrid | " in capsys.readouterr().out


def test_wrong_costs_are_found() -> None:
    """Costs that are not exact, taken for such: those of Unshift on crossing trees."""
    case = Case("arc_eager", {"unshift": True}, projective=False)
    system = case.create()
    rng = random.Random(0)
    faults = [try_text(case, system, random_text(case, 5, rng), rng)[1] for _ in range(300)]
    assert any("a cost is not the difference of the losses" in (fault or "") for fault in faults)
