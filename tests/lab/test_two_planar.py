"""The 2-planar system: what SWITCH does, arcs that cross, trees that two planes cannot hold."""

from __future__ import annotations

import functools
import itertools
import random
import subprocess
import sys

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold, State
from tests.exhaustive import TooMany, graph, true_losses
from tests.naive.trees import Tree, forests, is_projective
from tests.naive.two_planar import crossed, is_two_planar
from tests.pipe.common import random_heads

SYSTEM = systems.create("two_planar")
#: 3 -> 0, 4 -> 1 and 5 -> 2 cross each other.
TANGLED = [3, 4, 5, 3, 3, 4]


def after(*moves: str, n: int) -> State:
    state = SYSTEM.initial(n)
    for move in moves:
        SYSTEM.apply(state, Action(move))
    return state


def legal(state: State) -> set[str]:
    return {action.move for action in SYSTEM.actions(state)}


def test_switch_once_for_each_word() -> None:
    """Otherwise searches and walks would not come to an end."""
    state = after("SHIFT", "SHIFT", "REDUCE", n=3)
    assert (state.stack, state.other_stack, state.switched) == ([0], [0, 1], False)
    SYSTEM.apply(state, Action("SWITCH"))
    assert (state.stack, state.other_stack, state.switched) == ([0, 1], [0], True)
    assert "SWITCH" not in legal(state)
    copy = state.copy()
    for move in ("REDUCE", "REDUCE", "SHIFT"):
        SYSTEM.apply(copy, Action(move))
    assert (copy.stack, copy.other_stack, copy.switched) == ([2], [0, 2], False)
    assert (state.stack, state.other_stack) == ([0, 1], [0])
    assert "SWITCH" not in legal(after("SHIFT", "SWITCH", "REDUCE", "SHIFT", "SWITCH", n=4))
    assert "SWITCH" not in legal(after(n=2))


@functools.cache
def tangled(n: int) -> list[Tree]:
    """The trees of n words that are not 2-planar."""
    trees = forests(n, projective=False)
    return [Tree(heads, None, None) for heads in trees if not is_two_planar(heads)]


def test_all_trees_of_five_words_are_two_planar() -> None:
    assert [len(tangled(n)) for n in range(1, 7)] == [0, 0, 0, 0, 0, 428]


def fewest(heads: list[int]) -> int:
    """How many arcs must go so that two planes hold the rest, by trying."""
    crossing = [word for word in range(len(heads)) if any(crossed(tuple(heads), word))]
    for number in range(len(crossing) + 1):
        for gone in itertools.combinations(crossing, number):
            left = tuple(None if word in gone else head for word, head in enumerate(heads))
            if is_two_planar(left):
                return number
    raise AssertionError


def test_the_fewest_arcs_are_given_up() -> None:
    assert SYSTEM.loss(SYSTEM.initial(6), Gold(TANGLED)) == 1
    draw = random.Random(0)
    found = set()
    for _ in range(150):
        heads = random_heads(draw.randint(6, 12), draw)
        found.add(fewest(heads))
        assert SYSTEM.loss(SYSTEM.initial(len(heads)), Gold(heads)) == fewest(heads)
    assert found == {0, 1, 2}, found


def random_state(n: int, left: int, draw: random.Random) -> State:
    """A configuration with so many words in the buffer; few words have left the stacks."""
    state = SYSTEM.initial(n)
    while True:
        actions = [a for a in SYSTEM.actions(state) if a.move != "REDUCE" or draw.random() < 0.3]
        if len(state.buffer) == left:
            actions = [action for action in actions if action.move != "SHIFT"]
        if not actions or (len(state.buffer) == left and draw.random() < 0.4):
            return state
        SYSTEM.apply(state, draw.choice(actions))


@pytest.mark.parametrize("number", [2, pytest.param(15, marks=pytest.mark.slow)])
def test_costs_of_trees_that_are_not_two_planar(number: int) -> None:
    """From random configurations everything is searched, against trees of six words."""
    draw = random.Random(0)
    trees = tangled(6)
    positive = 0
    while number:
        try:
            nodes = graph(SYSTEM, random_state(6, draw.randint(1, 2), draw), (None,), 2_000)
        except TooMany:
            continue
        number -= 1
        truth = true_losses(SYSTEM, nodes, trees).tolist()
        for node, losses in zip(nodes, truth, strict=True):
            tree = draw.randrange(len(trees))
            gold = Gold(*trees[tree])
            assert SYSTEM.loss(node.state, gold) == losses[tree]
            costs = list(SYSTEM.costs(node.state, gold).values())
            for _, place, following in node.edges:
                assert costs[place] == truth[following][tree] - losses[tree]
                positive += costs[place] > 0
    assert positive > 50


def test_a_search_that_is_too_long_ends() -> None:
    """What is told then is not too high: derivations by the oracle are no better."""
    heads = random_heads(120, random.Random(1))
    assert not is_projective(tuple(heads))
    gold = Gold(heads)
    state = SYSTEM.initial(len(heads))
    told = SYSTEM.loss(state, gold)
    while not state.is_final:
        SYSTEM.apply(state, SYSTEM.follow(state, gold))
    assert 0 < told <= SYSTEM.loss(state, gold) < len(heads)


def test_arcs_from_root_need_no_plane() -> None:
    """A root that arcs of both planes span."""
    heads = [3, 4, 2, 2, 2]
    assert is_two_planar(tuple(heads))
    state = SYSTEM.initial(5)
    for action in SYSTEM.derivation(Gold(heads), "static"):
        SYSTEM.apply(state, action)
    assert state.heads[2] is None
    assert state.tree()[0] == heads


def test_scorers_see_both_stacks() -> None:
    features = {name for move in SYSTEM.table.values() for name in move.features}
    assert {"T0", "T0*B0", "switched"} <= features
    # A config that names them may be read before the system is made.
    code = "from spacy_nmparse.scorers.features import Features; Features(['S0', 'T0', 'switched'])"
    subprocess.run([sys.executable, "-c", code], check=True)
