"""Arc-hybrid: the paper's formulas, and a derivation."""

from __future__ import annotations

from spacy_nmparse import systems
from spacy_nmparse.systems import ROOT, Action, Gold
from tests.exhaustive import graph
from tests.naive.trees import golds


def printed_cost(state: systems.State, gold: Gold, move: str) -> int:
    """Goldberg & Nivre 2013, section 4.1: the gold arcs that a move takes out of reach."""
    heads = [ROOT if head == w else head for w, head in enumerate(gold.heads)]
    stack, buffer = state.stack, state.buffer
    s1, s0 = [None, None, *stack][-2:]
    b0, words = buffer[0], [w for w in buffer if w != ROOT]
    if move == "SHIFT":
        lost = b0 != ROOT and heads[b0] in stack[:-1]
        return lost + sum(heads[w] == b0 for w in stack)
    kids = sum(heads[w] == s0 for w in words)
    if move == "LEFT-ARC":
        return kids + (heads[s0] == s1 is not None or heads[s0] in buffer[1:])
    return kids + (heads[s0] in buffer)


def test_formulas() -> None:
    """Of the plain system, as printed; with single_root or segment, other code tells the same of
    configurations where these make no difference."""
    system = systems.create("arc_hybrid")
    other = systems.create("arc_hybrid", segment=True)
    nodes = [node for node in graph(system, system.initial(4), (None,)) if node.actions]
    for tree in golds(4, partial=True):
        gold = Gold(*tree)
        start = [True, False, False, False]
        closed = Gold(tree.heads, None, start)
        for node in nodes:
            costs = system.costs(node.state, gold)
            assert costs == {a: printed_cost(node.state, gold, a.move) for a in node.actions}
        state = other.initial(4, [1, -1, -1, -1])
        same = system.initial(4)
        while not same.is_final:
            assert other.costs(state, closed) == system.costs(same, gold)
            action = system.follow(same, gold)
            system.apply(same, action)
            other.apply(state, action)


def test_a_derivation() -> None:
    system = systems.create("arc_hybrid")
    assert system.projective and not system.headless
    moves = [action.move[:2] for action in system.derivation(Gold([1, 1, 3, 1]), "static")]
    assert " ".join(moves) == "SH LE SH SH LE SH RI LE SH"
    assert system.repair(system.initial(2), Action("SHIFT")) is None
