"""The list systems: the paper's figures, and what their moves may and may not do."""

from __future__ import annotations

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold
from tests.naive.trees import golds

FIGURE_2 = Gold([0, 0, 0, 4, 0])  # 1 -> 2, 1 -> 3, 1 -> 5, 5 -> 4, in words from 0

FIGURE_3 = """
SHIFT       | 0         |         | 1 2 3 4
RIGHT-ARC 1 |           | 0       | 1 2 3 4
SHIFT       | 0 1       |         | 2 3 4
NO-ARC      | 0         | 1       | 2 3 4
RIGHT-ARC 1 |           | 0 1     | 2 3 4
SHIFT       | 0 1 2     |         | 3 4
SHIFT       | 0 1 2 3   |         | 4
LEFT-ARC 1  | 0 1 2     | 3       | 4
NO-ARC      | 0 1       | 2 3     | 4
NO-ARC      | 0         | 1 2 3   | 4
RIGHT-ARC 1 |           | 0 1 2 3 | 4
SHIFT       | 0 1 2 3 4 |         |
"""

FIGURE_4 = """
SHIFT       | 0         |         | 1 2 3 4
RIGHT-ARC 1 |           | 0       | 1 2 3 4
SHIFT       | 0 1       |         | 2 3 4
RIGHT-ARC 2 |           | 0 1     | 2 3 4
SHIFT       | 0 1 2     |         | 3 4
SHIFT       | 0 1 2 3   |         | 4
LEFT-ARC 1  | 0 1 2     | 3       | 4
RIGHT-ARC 3 |           | 0 1 2 3 | 4
SHIFT       | 0 1 2 3 4 |         |
"""


@pytest.mark.parametrize("oracle", ["static", "dynamic"])
@pytest.mark.parametrize(
    ("system", "figure"), [("covington", FIGURE_3), ("nl_covington", FIGURE_4)]
)
def test_figures(system: str, figure: str, oracle: str) -> None:
    """Figures 3 and 4 of Fernández-González & Gómez-Rodríguez 2018, move for move."""
    real = systems.create(system)
    state = real.initial(5)
    table = [[cell.split() for cell in row.split("|")] for row in figure.strip().splitlines()]
    for (move, *k), lambda1, lambda2, buffer in table:
        action = Action(move, int(k[0]) if k else 1)
        assert action in real.oracle(state, FIGURE_2, oracle)
        if oracle == "static" or system == "nl_covington":  # no other way leads there
            assert real.oracle(state, FIGURE_2, oracle) == {action}
        real.apply(state, action)
        told = [list(map(str, items)) for items in (state.lambda1, state.lambda2, state.buffer)]
        assert told == [lambda1, lambda2, buffer]
    assert state.is_final
    assert state.heads == [None, 0, 0, 4, 0]
    assert state.tree()[0] == [0, 0, 0, 4, 0]
    assert len(real.derivation(FIGURE_2, "static")) == len(table)


def test_no_spurious_ambiguity() -> None:
    """Every tree of up to five words has one derivation (FG18, section 4.2), and arc k of
    NL-Covington stands for k - 1 NO-ARCs and an arc of Covington (section 3)."""
    nl, covington = systems.create("nl_covington"), systems.create("covington")
    for tree in (tree for n in range(1, 6) for tree in golds(n, projective=False)):
        state, mirror = nl.initial(len(tree.heads)), covington.initial(len(tree.heads))
        while not state.is_final:
            (action,) = nl.oracle(state, Gold(*tree), "dynamic")
            nl.apply(state, action)
            for _ in range(action.k - 1):
                covington.apply(mirror, Action("NO-ARC"))
            covington.apply(mirror, Action(action.move, 1, action.label))
            assert (state.parts, state.heads) == (mirror.parts, mirror.heads)
        assert mirror.is_final


@pytest.mark.parametrize("nonmonotonic", [False, True])
def test_no_arc_closes_a_cycle(nonmonotonic: bool) -> None:
    """It is illegal, or takes the arc into its head away. test_replay.py would not come to an end
    with a cycle."""
    real = systems.create("nl_covington", nonmonotonic=nonmonotonic)
    state = real.initial(3)
    for action in (Action("SHIFT"), Action("LEFT-ARC"), Action("SHIFT"), Action("LEFT-ARC")):
        real.apply(state, action)
    assert state.heads == [1, 2, None]
    if nonmonotonic:
        real.apply(state, Action("RIGHT-ARC"))  # 0 -> 2 -> 1 -> 0
        assert state.heads == [None, 2, 0]
    else:
        with pytest.raises(ValueError, match="illegal"):
            real.apply(state, Action("RIGHT-ARC"))


def test_long_text() -> None:
    """Cost and loss functions cope with depth."""
    n = 2000
    heads = [max(0, word - 1) for word in range(n)]
    gold = Gold(heads)
    real = systems.create("nl_covington")
    state = real.initial(n)
    for _ in range(n):
        real.apply(state, Action("SHIFT"))
        if not state.is_final:
            real.apply(state, Action("RIGHT-ARC"))
    assert state.tree()[0] == heads
    assert real.loss(state, gold) == 0


def test_tree_of_headless_words() -> None:
    labels = ("a", "ROOT")
    for options, heads, given in (
        ({}, [0, 1, 2], [None] * 3),
        ({"root_label": "ROOT"}, [0, 1, 2], ["ROOT"] * 3),
        ({"root_label": "ROOT", "single_root": True}, [0, 0, 0], ["ROOT", None, None]),
    ):
        for explicit_root in (False, True):
            real = systems.create("covington", labels, explicit_root=explicit_root, **options)
            state = real.initial(3)
            with pytest.raises(ValueError, match="final"):
                state.tree()
            for _ in range(3):
                real.apply(state, Action("SHIFT"))
            assert state.heads == [None] * 3
            assert state.tree() == (heads, given)


def test_nonmonotonic_costs_are_near() -> None:
    """No exact form is known: how often the estimate is right is written down here."""
    from tests.exhaustive import check
    from tests.exhaustive_cases import Case

    for system, wrong in (("covington", 2), ("nl_covington", 2)):
        case = Case(system, {"nonmonotonic": True}, projective=False, partial=False, exact=False)
        result = check(case, 3)
        assert result.trees * result.configurations in (768, 576)
        assert result.wrong_losses == wrong
