"""Repair transitions, Unshift and the restricted pushes of arc-eager: examples, limits, oracles.

That effects and costs are right is tested in test_replay.py and test_exhaustive.py.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold
from tests.exhaustive import graph, key
from tests.naive.trees import golds
from tests.systems.twins import BOTH, REPAIR_MOVES, REPAIRS, assert_trees

LABELS = tuple("abcdef")
DECOUPLED = {"repairs": REPAIRS, "decoupled_repairs": True}


def replay(
    system: systems.TransitionSystem, n: int, moves: str
) -> tuple[systems.State, list[Action]]:
    """The configuration behind the moves, each with its label behind it, and the actions there."""
    state = system.initial(n)
    names = {"S": "SHIFT", "D": "REDUCE", "L": "LEFT-ARC", "R": "RIGHT-ARC"}
    for move in moves.split():
        system.apply(state, Action(names[move[0]], 1, move[1:] or None))
    return state, system.actions(state)


@pytest.mark.parametrize(
    ("n", "moves", "repair", "stack", "heads", "labels"),
    [
        # She eats pizza with | anchovies.
        (5, "S La S Rb D Rc", "RIGHT-LOWER", [1, 2, 3, 4], [1, None, 1, 2, 3], "a-bcd"),
        # He eats pizza with | a fork.
        (6, "S La S Rb Rc S Ld", "RIGHT-RAISE", [1, 3, 5], [1, None, 1, 1, 5, 3], "a-bcde"),
        # Prices inflated from speculation | crash.
        (5, "S La S Rb Rc D D", "LEFT-INVERT", [], [4, 0, 1, 2, None], "eabc-"),
    ],
)
def test_figures(
    n: int, moves: str, repair: str, stack: list[int], heads: list[int | None], labels: str
) -> None:
    """REP's figures."""
    (name,) = (one for one in REPAIRS if one.upper().replace("_", "-") == repair)
    system = systems.create("arc_eager", LABELS, **BOTH, repairs=[name])
    state, legal = replay(system, n, moves)
    (label,) = set(labels) - {*moves, "-"}
    assert Action(repair, 1, label) in legal
    system.apply(state, Action(repair, 1, label))
    assert (state.stack, state.heads) == (stack, heads)
    assert state.labels == [None if one == "-" else one for one in labels]
    assert state.dependents(1) == [word for word, head in enumerate(heads) if head == 1]


def test_only_what_was_asked_for() -> None:
    assert systems.create("arc_eager").moves == ("SHIFT", "REDUCE", "LEFT-ARC", "RIGHT-ARC")
    system = systems.create("arc_eager", **BOTH, repairs=("left_invert", "right_lower"))
    assert system.options["repairs"] == ("right_lower", "left_invert")
    assert system.moves[4:] == ("RIGHT-LOWER", "LEFT-INVERT")
    assert "paper" not in system.oracles


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"repairs": ["right_lower"]}, "need nonmonotonic_left=True"),
        ({"repairs": ["left_reattach"]}, "no repair 'left_reattach'"),
        ({"decoupled_repairs": True}, "decoupled_repairs needs repairs"),
        ({"unshift": True, "nonmonotonic_reduce": True}, "leave one out"),
        ({"unshift": True, "nonmonotonic_left": True, "repairs": REPAIRS}, "leave one out"),
        ({"push": "left"}, "push is one of"),
        ({"push": "shift"}, "needs nonmonotonic_reduce=True"),
        ({"push": "right_arc"}, "needs nonmonotonic_left=True"),
        ({"push": "shift", "unshift": True}, "unshift needs both pushes"),
        ({"push": "shift", **BOTH, "repairs": REPAIRS}, "push='shift' has none"),
        ({"max_search_states": -1}, "a number of configurations"),
        ({"max_search_states": "9"}, "max_search_states is a whole number, not '9'"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        systems.create("arc_eager", **options)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("decoupled", [False, True])
def test_derivations_end(single_root: bool, decoupled: bool) -> None:
    """Each word that is read is pushed, and at most one more. Decoupled, S0 goes back in the
    text, or is revised once, until a word is read."""
    options = {"single_root": single_root, "decoupled_repairs": decoupled}
    system = systems.create("arc_eager", **BOTH, repairs=REPAIRS, **options)
    draw = random.Random(0)
    used = dict.fromkeys(REPAIR_MOVES, 0)
    for _ in range(200):
        n = draw.randint(1, 40)
        state = system.initial(n)
        pushes = 0
        while not state.is_final:
            legal = system.actions(state)
            repairs = [action for action in legal if action.move in used]
            action = draw.choice(repairs if repairs and draw.random() < 0.5 else legal)
            before = len(state.stack)
            front, top = state.buffer[0], state.stack[-1:]
            system.apply(state, action)
            if decoupled and state.buffer[:1] == [front] and state.stack:
                assert state.stack[-1:] < top or (state.stack[-1:] == top == [state.revised])
            if action.move in used:
                used[action.move] += 1
            if action.move not in ("REDUCE", "LEFT-ARC", "LEFT-INVERT"):
                pushes += max(1, len(state.stack) - before)
        assert decoupled or pushes <= 2 * n + 1
        assert_trees(state.tree()[0], state.sent_starts, single_root)
    assert min(used.values()) > 50


@pytest.mark.parametrize(
    "options", [*({"repairs": (one,)} for one in REPAIRS), {"repairs": REPAIRS}, DECOUPLED]
)
def test_combined_repairs_only_where_needed(options: dict[str, Any]) -> None:
    """A repair is learned only where no move that needs none is as good."""
    system = systems.create("arc_eager", **BOTH, **options)
    plain = systems.create("arc_eager", **BOTH)
    same = {key(plain, one.state): one.state for one in graph(plain, plain.initial(4), [None])}
    learned = 0
    for state in (node.state for node in graph(system, system.initial(4), [None])):
        if state.is_final:
            continue
        for tree in golds(4):
            gold = Gold(*tree)
            costs = system.costs(state, gold)
            allowed = system.oracle(state, gold, "combined")
            assert allowed and all(costs[action] == 0 for action in allowed)
            if twin := same.get(key(plain, state)):
                without = {a for a in plain.oracle(twin, gold, "dynamic") if costs[a] == 0}
                assert not without or allowed <= without
            learned += any(action.move in REPAIR_MOVES for action in allowed)
    assert learned > 0


@pytest.mark.parametrize("push", ["shift", "right_arc"])
def test_one_kind_of_push(push: str) -> None:
    """HGJ13 section 4: SHIFT every token, or RIGHT-ARC every token that finds an S0."""
    system = systems.create("arc_eager", **BOTH, push=push, single_root=True)
    assert system.oracles == ("dynamic", "static", "exact")
    for tree in golds(5, one_root=True):
        gold = Gold(*tree)
        for oracle in system.oracles:
            state = system.initial(5)
            for action in system.derivation(gold, oracle):
                if push == "shift":
                    assert action.move != "RIGHT-ARC"
                elif state.stack and state.buffer[0] != systems.ROOT:
                    assert action.move != "SHIFT"
                system.apply(state, action)
            assert tuple(state.tree()[0]) == tree.heads


@pytest.mark.parametrize("options", [{"repairs": REPAIRS}, DECOUPLED])
def test_a_search_that_is_too_short_tells_a_loss_that_can_be_reached(
    options: dict[str, Any],
) -> None:
    exact = systems.create("arc_eager", **BOTH, **options, max_search_states=0)
    hasty = systems.create("arc_eager", **BOTH, **options, max_search_states=1)
    higher = 0
    nodes = [graph(one, one.initial(5), [None])[::31] for one in (exact, hasty)]
    for node, same in zip(*nodes, strict=True):
        for tree in golds(5)[::9]:
            gold = Gold(*tree)
            least = exact.loss(node.state, gold)
            assert hasty.loss(same.state, gold) >= least
            higher += hasty.loss(same.state, gold) > least
    assert higher > 0


@pytest.mark.parametrize("labels", [None, LABELS[:2]])
@pytest.mark.parametrize(
    "options",
    [
        {**BOTH, "repairs": REPAIRS},
        {**BOTH, **DECOUPLED},
        {"nonmonotonic_left": True, "repairs": REPAIRS, "single_root": True, "segment": True},
        {"nonmonotonic_left": True, "unshift": True},
        {"unshift": True, "single_root": True},
    ],
)
def test_the_dynamic_oracle_allows_what_costs_least(
    options: dict[str, Any], labels: tuple[str, ...] | None
) -> None:
    """It does not ask for the costs of the rest. Along random actions, notes of SHIFT included."""
    system = systems.create("arc_eager", labels, **options, max_search_states=0)
    draw = random.Random(0)
    asked = several = 0
    for tree in golds(5)[::3]:
        given = [draw.choice(labels) for _ in range(5)] if labels else None
        gold = Gold(tree[0], given, *tree[2:])
        state = system.initial(5)
        while not state.is_final:
            note = draw.choice(labels) if labels else None
            costs = system.costs(state, gold, push_label=note)
            least = min(costs.values())
            allowed = system.oracle(state, gold, push_label=note)
            assert allowed == {action for action, cost in costs.items() if cost == least}
            asked += 1
            several += 1 < len(allowed) < len(costs)
            action = draw.choice(sorted(costs, key=str))
            system.apply(state, action, push_label=note if action.move == "SHIFT" else None)
    assert asked > 500
    assert several > 100
