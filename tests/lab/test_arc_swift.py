"""Arc-swift: its formulas, against arc-eager, and gold trees that it cannot build."""

from __future__ import annotations

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold
from tests.naive.trees import golds


@pytest.mark.parametrize("single_root", [False, True])
def test_one_way_to_a_tree(single_root: bool) -> None:
    """One arc a word, one SHIFT for each word with its head on the right, one for ROOT. With
    single_root, arcs to the right can wait for the end."""
    real = systems.create("arc_swift", single_root=single_root)
    more = 0
    for tree in golds(5, one_root=single_root):
        gold = Gold(*tree)
        state = real.initial(5)
        actions = real.derivation(gold, "static")
        for action in actions:
            assert real.oracle(state, gold, "combined") == {action}
            allowed = real.oracle(state, gold, "dynamic")
            assert action in allowed
            assert allowed <= {action, Action("SHIFT")}
            more += len(allowed) > 1
            real.apply(state, action)
        right = sum(head is not None and head < w for w, head in enumerate(tree.heads))
        assert len(actions) == 2 * 5 - right + 1
    assert (more > 0) == single_root


def test_the_longest_arc() -> None:
    n = 300
    real = systems.create("arc_swift", single_root=True)
    state = real.initial(n)
    real.apply(state, Action("SHIFT"))
    for _ in range(n - 1):
        real.apply(state, Action("RIGHT-ARC"))
    assert real.actions(state) == [Action("LEFT-ARC", n)]
