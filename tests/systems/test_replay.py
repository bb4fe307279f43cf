"""All systems against plain second implementations, step by step; and oracles against gold."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from typing import Any

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Gold
from tests.naive.system import Action
from tests.naive.trees import Tree
from tests.pipe.common import random_heads
from tests.systems.twins import (
    CROSSING,
    HEADLESS,
    LABELS,
    REPAIR_MOVES,
    TWINS,
    Options,
    Twin,
    assert_trees,
    compare,
    labelled,
    labels_to_note,
    some_and_more,
    takes_notes,
    with_labels,
)

EVERY = pytest.mark.parametrize("twin", TWINS, ids=str)
LABELLED = ("twin", "labels", "more")
MOVES = (
    *("SHIFT", "REDUCE", "LEFT-ARC", "RIGHT-ARC", "NO-ARC", "SWAP", "BREAK", "SWITCH"),
    *(*REPAIR_MOVES, "x"),
)
# Oracles that follow the canonical derivation, as the second implementations tell it.
CANONICAL = {
    "arc_swift": {"static", "combined"},
    "swap_standard": {"static", "eager"},
}
OF_THE_LAB = {"paper", "exact", "monotonic", "combined", "lazy", "nd_sw", "minimal"}


def test_every_system_is_replayed() -> None:
    assert {twin.system for twin in TWINS} == set(systems.names())


def has_few(twin: Twin, labels: Options) -> bool:
    """Few enough configurations of four words."""
    return labels["labels"] is None and twin.system not in CROSSING


@pytest.mark.parametrize(LABELLED, some_and_more(TWINS, has_few))
def test_all_small_derivations(twin: Twin, labels: Options, more: bool) -> None:
    """Every configuration, and every action in it."""
    real, plain = twin.make(labels)
    longest = 3 if labels["labels"] is None else 2
    for n in (4,) if more else range(1, longest + 1):
        todo = [(real.initial(n), plain.initial(n))]
        seen = {todo[0][1]}
        while todo:
            state, mirror = todo.pop()
            for action in compare(real, plain, state, mirror):
                after = plain.apply(mirror, action)
                if after not in seen:
                    seen.add(after)
                    copy = state.copy()
                    real.apply(copy, action)
                    todo.append((copy, after))
            compare(real, plain, state, mirror)  # the copies left it alone


@pytest.mark.parametrize(("twin", "labels"), labelled(TWINS))
def test_random_walks(twin: Twin, labels: Options) -> None:
    real, plain = twin.make(labels)
    assert real.name == twin.system
    assert pickle.loads(pickle.dumps(real)).options == real.options
    noted = labels_to_note(real)
    names = (None, *(real.labels or ()), "x")
    draw = random.Random(0)
    longest = 0
    for walk in range(8):
        n = draw.randint(1, 12)
        preset = tuple(draw.choice((0, 0, 1, -1)) for _ in range(n)) if walk % 2 else None
        state, mirror = real.initial(n, sent_starts=preset), plain.initial(n, preset)
        liked = draw.choice(real.moves)  # so that stacks, lists and arcs get long
        while legal := compare(real, plain, state, mirror):
            for action in wrong_actions(draw, n, names):
                if action not in legal:
                    assert_refused(real, state, action)
            others = [action for action in legal if action.move == liked]
            action = draw.choice(others if others and draw.random() < 0.4 else legal)
            longest = max(longest, action.k)
            note = draw.choice(noted)
            real.apply(state, action, push_label=note)
            mirror = after(real, plain, mirror, action, note)
        heads, labels_ = state.tree()
        assert (tuple(heads), tuple(labels_)) == told_tree(plain, mirror)
        assert_trees(heads, state.sent_starts, one_root=twin.options.get("single_root", False))
    assert longest > 1 or twin.system not in ("arc_swift", "nl_covington")


def assert_refused(real: systems.TransitionSystem, state: systems.State, action: Action) -> None:
    """As pytest.raises does, in less time."""
    try:
        real.apply(state, action)
    except ValueError as error:
        assert any(why in str(error) for why in ("illegal", "no move", "not among"))
    else:
        raise AssertionError(f"{action} is taken: {state!r}")


def wrong_actions(draw: random.Random, n: int, names: tuple[str | None, ...]) -> Iterator[Action]:
    """Every move with every label, and with a k that may be anything; most are illegal."""
    for move in MOVES:
        for label in names:
            yield Action(move, 1, label)
        yield Action(move, draw.randrange(n + 2), draw.choice(names))


def after(
    real: systems.TransitionSystem, plain: Any, mirror: Any, action: Action, note: str | None
) -> Any:
    """The second implementation's next configuration; only arc-eager's pushes note labels."""
    noted = (note,) if takes_notes(real) else ()
    return plain.apply(mirror, action, *noted)


def told_tree(plain: Any, mirror: Any) -> tuple[tuple[int, ...], tuple[str | None, ...]]:
    heads, labels = plain.tree(mirror) if hasattr(plain, "tree") else (mirror.heads, mirror.labels)
    return tuple(heads), tuple(labels)


@pytest.mark.parametrize(LABELLED, some_and_more(TWINS))
def test_oracles_derive_gold(twin: Twin, labels: Options, more: bool) -> None:
    """Every tree that the system can build, by every oracle."""
    real, plain = twin.make(labels)
    assert real.headless == (twin.system in HEADLESS)
    assert real.projective == (twin.system not in CROSSING)
    own = {"eager", "nd_all"} if twin.system == "swap_standard" else set()
    assert set(real.oracles) - OF_THE_LAB == {"static", "dynamic", *own}
    draw = random.Random(0)
    longest = 4 if labels["labels"] is None else 3  # as many words as there are few trees of
    longest -= twin.system in CROSSING
    for n in (longest + 1,) if more else range(1, longest + 1):
        for tree in twin.golds(n, labels, draw):
            gold = Gold(*tree)
            for oracle in set(real.oracles) - {"paper"}:
                state, mirror = real.initial(n), plain.initial(n)
                actions = real.derivation(gold, oracle)
                for action in actions:
                    assert tuple(action) in plain.actions(mirror)
                    if oracle in CANONICAL.get(twin.system, {"static"}):
                        assert tuple(action) == plain.static(mirror, tree)
                    before, mirror = mirror, plain.apply(mirror, Action(*action))
                    real.apply(state, action)
                    if oracle in ("static", "monotonic"):  # no arc is taken back
                        pairs = zip(before.heads, mirror.heads, strict=True)
                        assert all(old in (None, new) for old, new in pairs)
                assert mirror.is_final and real.loss(state, gold) == 0
                assert_derived(twin, plain, mirror, tree, oracle)
                if oracle == "static" and twin.system == "nl_covington":  # FG18 section 3
                    breaks = sum(action.move == "BREAK" for action in actions)
                    explicit = twin.options.get("explicit_root", False)
                    arcs = sum(explicit or h != w for w, h in enumerate(tree.heads))
                    assert len(actions) == n + arcs + breaks


def assert_derived(twin: Twin, plain: Any, mirror: Any, tree: Tree, oracle: str) -> None:
    heads, told = told_tree(plain, mirror)
    assert heads == tree.heads
    assert tree.sent_starts is None or mirror.starts == tree.sent_starts
    if twin.system in HEADLESS:
        judged = plain.explicit_root or plain.root_label
        if tree.labels is not None and oracle == "static":
            for word, head in enumerate(heads):
                assert told[word] == tree.labels[word] or (head == word and not judged)
    elif tree.labels is not None:
        assert told == tree.labels


@EVERY
def test_something_can_always_be_learned(twin: Twin) -> None:
    """On crossing and partial gold, in any configuration, by every oracle; costs are the same one
    by one, as Cython code elsewhere asks for them, and differences of losses."""
    # The losses of projective systems are lower bounds on crossing gold, those of others guesses.
    sure = "nonmonotonic" not in twin.options and not twin.make(LABELS[0])[0].projective
    draw = random.Random(2)
    for walk in range(12):
        setting = LABELS[walk // 4]
        real, _ = twin.make(setting)
        n = draw.randint(1, 16)
        heads: list[int | None] = list(random_heads(n, draw))
        if walk % 3:
            heads = [None if draw.random() < 0.3 else head for head in heads]
        tree = with_labels(Tree(tuple(heads), None, None), setting, draw, ("a", "b", None))
        gold = Gold(*tree)
        state = real.initial(n)
        while not state.is_final:
            note = draw.choice(labels_to_note(real))
            costs = real.costs(state, gold, push_label=note)
            assert list(costs) == real.actions(state)
            for action, cost in costs.items():
                assert cost == real.cost(state, gold, action, push_label=note)
            if real.headless:
                now = real.loss(state, gold)
                for action in draw.sample(list(costs), min(3, len(costs))):
                    copy = state.copy()
                    real.apply(copy, action)
                    assert costs[action] == real.loss(copy, gold) - now
            least = min(costs.values())
            assert least == 0 or not sure
            for oracle in real.oracles:
                told = real.oracle(state, gold, oracle, push_label=note)
                assert told and told <= set(costs)
                searched = "repairs" in twin.options  # see test_repair.py
                if oracle == "dynamic" and not searched:
                    assert all(costs[action] == least for action in told)
                if oracle in ("static", "eager", "lazy", "minimal"):
                    assert len({action[:2] for action in told}) == 1
            action = draw.choice(list(costs))
            if walk % 2:  # along the oracle's path
                action = draw.choice(sorted(real.oracle(state, gold), key=str))
            real.apply(state, action, push_label=note)
