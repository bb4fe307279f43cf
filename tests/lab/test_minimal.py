"""The oracles ``lazy``, ``nd_sw`` and ``minimal`` of SwapStandard."""

from __future__ import annotations

import random

from spacy_nmparse import systems
from spacy_nmparse.lab.minimal import components, fewest_swaps, projective_order
from spacy_nmparse.systems import Action, Gold
from tests.naive import arc_standard as naive
from tests.naive.trees import golds, is_projective
from tests.pipe.common import random_heads
from tests.systems.test_arc_standard import FIGURE_1, START
from tests.systems.twins import replay


def test_figure_1() -> None:
    """The order, the components and the SWAPs that Björkelund & Nivre (2015) tell."""
    sentence = ["That", "'s", "what", "they", "'re", "after"]
    told = [sentence[word] for word in projective_order(FIGURE_1)]
    assert told == ["That", "'s", "they", "'re", "what", "after"]
    assert components(FIGURE_1) == [1, 1, 2, 4, 4, 5]
    real = systems.create("swap_standard")
    lazy, minimal = (
        [action.move for action in real.derivation(FIGURE_1, name)] for name in ("lazy", "minimal")
    )
    assert lazy == [*START, "SHIFT", "LEFT-ARC", "SWAP", *lazy[8:]]
    assert lazy.count("SWAP") == minimal.count("SWAP") == 1
    assert fewest_swaps(FIGURE_1) == (1, True)
    state = real.initial(6)
    for move in START:
        real.apply(state, Action(move))
    assert real.oracle(state, FIGURE_1, "nd_sw") == {Action("SWAP"), Action("SHIFT")}
    assert real.oracle(state, FIGURE_1, "lazy") == {Action("SHIFT")}


def test_total_swaps() -> None:
    """Over all crossing trees of five words."""
    real = systems.create("swap_standard")
    trees = [tree for tree in golds(5, projective=False) if not is_projective(tree.heads)]
    totals = {
        oracle: sum(
            action.move == "SWAP"
            for tree in trees
            for action in real.derivation(Gold(*tree), oracle)
        )
        for oracle in ("eager", "lazy", "minimal")
    }
    assert sum(fewest_swaps(Gold(*tree))[0] for tree in trees) == totals["minimal"]
    assert totals == {"eager": 1918, "lazy": 1708, "minimal": 1665}


def test_a_search_cut_off_tells() -> None:
    """Then there are still no more SWAPs than LAZY has, and the tree is derived."""
    heads = random_heads(40, random.Random(0))
    gold = Gold(heads)
    swaps, proven = fewest_swaps(gold)
    assert not proven
    real = systems.create("swap_standard")
    told = {}
    for oracle in ("eager", "lazy", "minimal"):
        assert replay(real, gold, oracle).tree()[0] == heads
        told[oracle] = sum(a.move == "SWAP" for a in real.derivation(gold, oracle))
    assert told["minimal"] == swaps <= told["lazy"] <= told["eager"]


def test_orders_of_naive_lattices() -> None:
    for heads in ((0, 3, 0, 0), (2, 3, 2, 2), tuple(FIGURE_1.heads)):
        assert naive.projective_order(heads) == projective_order(Gold(heads))
