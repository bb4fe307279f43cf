"""Arc-standard and SwapStandard: their oracles, and examples from papers."""

from __future__ import annotations

import random
from typing import Any

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Gold
from tests.exhaustive import check
from tests.exhaustive_cases import Case
from tests.fuzz import random_swapped
from tests.naive.trees import golds
from tests.swap_oracles import SWAP_ORACLES, check_swap_oracles, oracle_row
from tests.systems.twins import SETTINGS, name, replay

SYSTEMS = ("arc_standard", "swap_standard")


@pytest.mark.parametrize("options", SETTINGS, ids=name)
def test_partial_gold_costs_nothing(options: dict[str, Any]) -> None:
    """Unknown heads are made up so that the known ones can be had, with every oracle."""
    real = systems.create("swap_standard", **options)
    one_root = options.get("single_root", False)
    for tree in golds(4, projective=False, one_root=one_root, partial=True):
        gold = Gold(*tree)
        for oracle in real.oracles:
            assert real.loss(replay(real, gold, oracle), gold) == 0


FIGURE_1 = Gold([1, 1, 5, 4, 1, 4])  # Björkelund & Nivre 2015: That 's what they 're after
START = ["SHIFT", "SHIFT", "LEFT-ARC", "SHIFT", "SHIFT"]  # by every oracle


def test_figure_1() -> None:
    """The SWAPs that the paper tells."""
    real = systems.create("swap_standard")
    eager = [action.move for action in real.derivation(FIGURE_1, "eager")]
    assert eager == [*START, "SWAP", "SHIFT", "SHIFT", "SWAP", *eager[9:]]
    assert eager.count("SWAP") == 2


@pytest.mark.parametrize("options", SETTINGS, ids=name)
def test_swap_oracles(options: dict[str, Any]) -> None:
    """ND-ALL and ND-SW allow what keeps the tree reachable, MINIMAL has the fewest SWAPs."""
    for n in range(1, 5):
        result = check_swap_oracles(options, n)
        assert result.allowed > 0
        assert not result.failed, "\n".join([oracle_row(result), *result.examples])
    if not options:
        expected = {"eager": 93, "lazy": 85, "minimal": 85}
        assert result.swaps == {name: expected[name] for name in SWAP_ORACLES}
        assert result.freely == 80  # BN15, footnote 3
        assert list(result.choices.values()) == [25, 4, 9]  # section 4.1


@pytest.mark.parametrize(
    ("options", "constraints", "n", "wrong"),
    [
        *((options, False, 3, 0) for options in SETTINGS),
        ({"single_root": True, "segment": True}, True, 3, 0),
        *(
            pytest.param(options, False, 4, wrong, marks=pytest.mark.slow)
            for options, wrong in zip(SETTINGS, (0, 0, 4, 0), strict=True)
        ),
    ],
)
def test_dynamic_costs_of_swap_are_near(
    options: dict[str, Any], constraints: bool, n: int, wrong: int
) -> None:
    """Not known to be exact: how often they are not is written down here."""
    case = Case(
        "swap_standard",
        options,
        projective=False,
        partial=False,
        constraints=constraints,
        exact=False,
    )
    result = check(case, n)
    assert result.triples > 300
    assert (result.wrong_losses, result.wrong_costs) == (0, wrong), result.examples


@pytest.mark.parametrize("options", SETTINGS, ids=name)
def test_choices_of_dynamic_lose_nothing(options: dict[str, Any]) -> None:
    """Whatever SwapStandard chooses of what costs least in long crossing sentences, it builds the
    gold tree."""
    real = systems.create("swap_standard", **options)
    draw = random.Random(0)
    for n in (12, 20, 30):
        for _ in range(3):
            heads = random_swapped(n, options.get("single_root", False), draw)
            gold = Gold(heads)
            state = real.initial(n)
            while not state.is_final:
                real.apply(state, draw.choice(sorted(real.oracle(state, gold, "dynamic"))))
            assert state.tree()[0] == heads


def test_gold_tree_of_one_system_serves_another() -> None:
    gold = Gold([2, 3, 2, 2], ["a", "b", "a", "a"])
    for system in (*SYSTEMS, "arc_eager", "swap_standard"):
        real = systems.create(system, labels=("a", "b"))
        state = real.initial(4)
        assert min(real.costs(state, gold).values()) == 0
