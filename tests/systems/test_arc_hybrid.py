"""Arc-hybrid against a plain second implementation, the paper's formulas, and gold trees."""

from __future__ import annotations

import pickle
import random
from typing import Any

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold
from tests.exhaustive import graph
from tests.naive import arc_hybrid as naive
from tests.naive.arc_eager import State
from tests.naive.trees import golds
from tests.systems.test_replay import LABELS, SETTINGS, assert_trees, name, trees


def make(options: dict[str, Any]) -> tuple[systems.TransitionSystem, naive.ArcHybrid]:
    """The same system twice."""
    return systems.create("arc_hybrid", **options), naive.ArcHybrid(**options)


def compare(
    real: systems.TransitionSystem, plain: naive.ArcHybrid, state: systems.State, mirror: State
) -> list[naive.Action]:
    """Assert that both configurations are the same. Returns the legal actions."""
    assert tuple(state.stack) == mirror.stack
    assert tuple(state.buffer) == mirror.buffer
    assert tuple(state.heads) == mirror.heads
    assert tuple(state.labels) == mirror.labels
    assert tuple(state.sent_starts) == mirror.starts
    assert state.is_final == mirror.is_final
    assert not any(mirror.heads[w] is not None for w in mirror.stack if w != naive.ROOT)
    legal = plain.actions(mirror)
    assert list(map(tuple, real.actions(state))) == list(map(tuple, legal))
    assert bool(legal) != mirror.is_final
    return legal


@pytest.mark.parametrize("labels", LABELS, ids=name)
@pytest.mark.parametrize("options", SETTINGS, ids=name)
def test_random_walks(options: dict[str, Any], labels: dict[str, Any]) -> None:
    real, plain = make({**options, **labels})
    assert real.projective and not real.lists
    assert pickle.loads(pickle.dumps(real)).options == real.options
    draw = random.Random(0)
    every = [
        naive.Action(move, k, label)
        for move in ("SHIFT", "LEFT-ARC", "RIGHT-ARC", "BREAK", "REDUCE")
        for k in (0, 1, 2)
        for label in (None, *(real.labels or ()))
    ]
    for walk in range(60):
        n = draw.randint(1, 12)
        preset = tuple(draw.choice((0, 0, 1, -1)) for _ in range(n)) if walk % 2 else None
        state, mirror = real.initial(n, sent_starts=preset), plain.initial(n, preset)
        while legal := compare(real, plain, state, mirror):
            for action in every:
                if action not in legal:
                    with pytest.raises(ValueError, match=r"illegal|no move"):
                        real.apply(state, action)
            action = draw.choice(legal)
            real.apply(state, action)
            mirror = plain.apply(mirror, action)
        heads, labels_ = state.tree()
        assert (tuple(heads), tuple(labels_)) == (mirror.heads, mirror.labels)
        assert_trees(heads, state.sent_starts, one_root=options.get("single_root", False))


@pytest.mark.parametrize("labels", LABELS, ids=name)
@pytest.mark.parametrize("options", SETTINGS, ids=name)
def test_oracles_derive_gold(options: dict[str, Any], labels: dict[str, Any]) -> None:
    real, plain = make({**options, **labels})
    assert set(real.oracles) == {"static", "dynamic"}
    for n in range(1, 6 if labels["labels"] is None else 5):
        for tree in trees(n, options, labels):
            gold = Gold(*tree)
            for oracle in real.oracles:
                mirror = plain.initial(n)
                for action in real.derivation(gold, oracle):
                    assert tuple(action) in plain.actions(mirror)
                    if oracle == "static":
                        assert tuple(action) == plain.static(mirror, tree)
                    mirror = plain.apply(mirror, naive.Action(*action))
                assert mirror.is_final
                assert mirror.heads == tree.heads
                assert labels["labels"] is None or mirror.labels == tree.labels
                assert tree.sent_starts is None or mirror.starts == tree.sent_starts


def printed_cost(state: systems.State, gold: Gold, move: str) -> int:
    """Goldberg & Nivre 2013, section 4.1: the gold arcs that a move takes out of reach."""
    heads = [naive.ROOT if head == w else head for w, head in enumerate(gold.heads)]
    stack, buffer = state.stack, state.buffer
    s1, s0 = [None, None, *stack][-2:]
    b0, words = buffer[0], [w for w in buffer if w != naive.ROOT]
    if move == "SHIFT":
        lost = b0 != naive.ROOT and heads[b0] in stack[:-1]
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
    moves = [action.move[:2] for action in system.derivation(Gold([1, 1, 3, 1]), "static")]
    assert " ".join(moves) == "SH LE SH SH LE SH RI LE SH"
    assert system.repair(system.initial(2), Action("SHIFT")) is None
