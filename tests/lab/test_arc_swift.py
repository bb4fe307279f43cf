"""Arc-swift: its formulas, against arc-eager, and gold trees that it cannot build."""

from __future__ import annotations

import random

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import ROOT, Action, Gold
from tests.exhaustive import graph
from tests.naive.trees import golds
from tests.systems.twins import joined


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


def told_cost(state: systems.State, gold: Gold, action: Action) -> int:
    """The formulas of docs/proofs.md, of the plain system."""
    heads = [ROOT if head == word else head for word, head in enumerate(gold.heads)]
    b0, *behind = state.buffer
    waiting = [word for word in state.stack if state.heads[word] is None]
    above = state.stack[len(state.stack) - action.k :][::-1]  # s_1 .. s_k
    if action.move == "LEFT-ARC":
        item = above[-1]
        cost = heads[item] != b0 and heads[item] in behind
        return cost + sum(heads[w] in above for w in state.buffer if w != ROOT)
    if b0 == ROOT:
        return 0
    kids = sum(heads[w] == b0 for w in waiting)
    if action.move == "SHIFT":
        return (heads[b0] in state.stack) + kids
    lost = heads[b0] in behind or (heads[b0] in state.stack and heads[b0] != above[-1])
    return lost + kids + sum(heads[w] in above[:-1] for w in behind if w != ROOT)


def test_formulas() -> None:
    system = systems.create("arc_swift")
    nodes = [node for node in graph(system, system.initial(4), (None,)) if node.actions]
    assert any(action.k == 3 for node in nodes for action in node.actions)
    for tree in golds(4, partial=True):
        gold = Gold(*tree)
        for node in nodes:
            costs = system.costs(node.state, gold)
            assert costs == {a: told_cost(node.state, gold, a) for a in node.actions}


@pytest.mark.parametrize("segment", [False, True])
def test_arc_eager_is_as_good(segment: bool) -> None:
    """REDUCE takes nothing away that arc-swift could still get."""
    swift = systems.create("arc_swift", segment=segment)
    eager = systems.create("arc_eager", segment=segment)
    draw = random.Random(4)
    pool = golds(4, segment=segment)
    for _ in range(60):
        tree = draw.choice(pool)
        for _ in range(draw.randint(0, 2)):
            tree = joined(tree, draw.choice(pool))
        n = len(tree.heads)
        gold = Gold(*tree)
        state, mirror = swift.initial(n), eager.initial(n)
        while not state.is_final:
            assert swift.loss(state, gold) == eager.loss(mirror, gold)
            action = draw.choice(swift.actions(state))
            swift.apply(state, action)
            for _ in range(action.k - 1):
                eager.apply(mirror, Action("REDUCE"))
            eager.apply(mirror, Action(action.move))
            assert mirror.stack == state.stack


def test_words_left_without_a_head() -> None:
    """single_root: ROOT waits until what is left has been attached, from the top."""
    real = systems.create("arc_swift", single_root=True)
    state = real.initial(5)
    for action in [("SHIFT", 1), ("SHIFT", 1), ("RIGHT-ARC", 1), ("SHIFT", 1), ("RIGHT-ARC", 1)]:
        real.apply(state, (*action, None))
    assert (state.stack, state.buffer) == ([0, 1, 2, 3, 4], [ROOT])
    assert real.actions(state) == [Action("RIGHT-ARC", 1), Action("RIGHT-ARC", 2)]
    assert real.loss(state, Gold([0, 0, 1, 1, 3])) == 0
    real.apply(state, Action("RIGHT-ARC", 2))  # 3, above which 4 is gone, to 1
    assert (state.stack, state.buffer) == ([0, 1, 3], [ROOT])
    assert real.actions(state) == [Action("RIGHT-ARC", 1)]
    real.apply(state, Action("RIGHT-ARC"))
    assert state.stack == [0, 1]
    assert real.actions(state) == [Action("LEFT-ARC", 2)]
    real.apply(state, Action("LEFT-ARC", 2))
    assert real.actions(state) == [Action("SHIFT")]
    real.apply(state, Action("SHIFT"))
    assert state.tree() == ([0, 0, 1, 1, 3], [None] * 5)


def test_the_longest_arc() -> None:
    n = 300
    real = systems.create("arc_swift", single_root=True)
    state = real.initial(n)
    real.apply(state, Action("SHIFT"))
    for _ in range(n - 1):
        real.apply(state, Action("RIGHT-ARC"))
    assert real.actions(state) == [Action("LEFT-ARC", n)]
