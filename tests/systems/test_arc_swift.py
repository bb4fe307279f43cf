"""Arc-swift against a plain second implementation, against arc-eager, and gold trees."""

from __future__ import annotations

import pickle
import random
from typing import Any

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import ROOT, Action, Gold
from spacy_nmparse.systems.walk import move_costs
from tests.exhaustive import CASES, check, graph
from tests.naive import arc_swift as naive
from tests.naive.arc_eager import State
from tests.naive.trees import golds
from tests.systems.test_arc_standard import crossing_heads
from tests.systems.test_replay import LABELS, SETTINGS, assert_trees, joined, name, trees


def make(options: dict[str, Any]) -> tuple[systems.TransitionSystem, naive.ArcSwift]:
    """The same system twice."""
    return systems.create("arc_swift", **options), naive.ArcSwift(**options)


def compare(
    real: systems.TransitionSystem, plain: naive.ArcSwift, state: systems.State, mirror: State
) -> list[Any]:
    """Assert that both configurations are the same. Returns the legal actions."""
    assert tuple(state.stack) == mirror.stack
    assert tuple(state.buffer) == mirror.buffer
    assert tuple(state.heads) == mirror.heads
    assert tuple(state.labels) == mirror.labels
    assert tuple(state.sent_starts) == mirror.starts
    assert state.lambda1 == state.lambda2 == []
    assert state.is_final == mirror.is_final
    words = [word for word in mirror.stack if word != ROOT]
    for place, word in enumerate(words):  # a head is right beneath; the bottom has none
        assert mirror.heads[word] in ((None,) if place == 0 else (None, words[place - 1]))
    legal = plain.actions(mirror)
    if not mirror.is_final:
        assert list(map(tuple, real.actions(state))) == list(map(tuple, legal))
        assert legal
    for word in range(-1, mirror.n):
        kids = [
            w
            for w, head in enumerate(mirror.heads)
            if head == (w if word == ROOT else word) and (word == ROOT or w != word)
        ]
        assert state.dependents(word) == kids
    return legal


@pytest.mark.parametrize("labels", LABELS, ids=name)
@pytest.mark.parametrize("options", SETTINGS, ids=name)
def test_all_small_derivations(options: dict[str, Any], labels: dict[str, Any]) -> None:
    real, plain = make({**options, **labels})
    longest = 4 if labels["labels"] is None else 2
    for n in range(1, longest + 1):
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


@pytest.mark.parametrize("labels", LABELS, ids=name)
@pytest.mark.parametrize("options", SETTINGS, ids=name)
def test_random_walks(options: dict[str, Any], labels: dict[str, Any]) -> None:
    real, plain = make({**options, **labels})
    assert real.name == "arc_swift"
    assert pickle.loads(pickle.dumps(real)).options == real.options
    draw = random.Random(0)
    longest = 0
    for walk in range(30):
        n = draw.randint(1, 12)
        preset = tuple(draw.choice((0, 0, 1, -1)) for _ in range(n)) if walk % 2 else None
        state, mirror = real.initial(n, sent_starts=preset), plain.initial(n, preset)
        while legal := compare(real, plain, state, mirror):
            for move in ("SHIFT", "LEFT-ARC", "RIGHT-ARC", "BREAK", "REDUCE"):
                for k in range(n + 2):
                    action = Action(move, k, draw.choice((None, *(real.labels or ()))))
                    if action not in legal:
                        with pytest.raises(ValueError):
                            real.apply(state, action)
            # RIGHT-ARC more often, so that there is much to reach.
            others = [action for action in legal if action.move == "RIGHT-ARC"]
            action = draw.choice(others if others and draw.random() < 0.4 else legal)
            longest = max(longest, action.k)
            real.apply(state, action)
            mirror = plain.apply(mirror, action)
        heads, labels_ = state.tree()
        assert (tuple(heads), tuple(labels_)) == (mirror.heads, mirror.labels)
        assert_trees(heads, state.sent_starts, one_root=options.get("single_root", False))
    assert longest > 3


@pytest.mark.parametrize("labels", LABELS, ids=name)
@pytest.mark.parametrize("options", SETTINGS, ids=name)
def test_oracles_derive_gold(options: dict[str, Any], labels: dict[str, Any]) -> None:
    real, plain = make({**options, **labels})
    assert set(real.oracles) == {"static", "dynamic", "combined"}
    for n in range(1, 6 if labels["labels"] is None else 5):
        for tree in trees(n, options, labels):
            gold = Gold(*tree)
            for oracle in ("static", "dynamic", "combined"):
                mirror = plain.initial(n)
                for action in real.derivation(gold, oracle):
                    assert tuple(action) in plain.actions(mirror)
                    if oracle != "dynamic":
                        assert tuple(action) == plain.static(mirror, tree)
                    mirror = plain.apply(mirror, naive.Action(*action))
                assert mirror.is_final
                assert mirror.heads == tree.heads
                assert labels["labels"] is None or mirror.labels == tree.labels
                assert tree.sent_starts is None or mirror.starts == tree.sent_starts


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
    """The formulas of docs/oracles.md, of the plain system."""
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


@pytest.mark.parametrize("labels", LABELS[:2], ids=name)
@pytest.mark.parametrize("options", SETTINGS, ids=name)
def test_search_agrees_on_longer_texts(options: dict[str, Any], labels: dict[str, Any]) -> None:
    """Costs and losses along random walks, on texts longer than exhaustive.py can take."""
    real, plain = make({**options, **labels})
    draw = random.Random(1)
    sizes = (4, 4) if labels["labels"] is None else (3, 2)
    segment = options.get("segment", False)
    pools = [golds(n, segment=segment, partial=True, unknown_starts=True) for n in sizes]
    for _ in range(5):
        tree = joined(*(draw.choice(pool) for pool in pools))
        n = len(tree.heads)
        if labels["labels"] is not None:
            tree = tree._replace(labels=tuple(draw.choice(("a", "b", None)) for _ in range(n)))
        gold = Gold(*tree)
        known: dict[object, int] = {}
        for _ in range(2):
            state, mirror = real.initial(n), plain.initial(n)
            while legal := compare(real, plain, state, mirror):
                assert real.loss(state, gold) == plain.loss(mirror, tree, known)
                costs = real.costs(state, gold)
                truth = plain.costs(mirror, tree, known)
                assert {tuple(action): cost for action, cost in costs.items()} == truth
                assert move_costs(real, state, gold) == list(costs.values())
                action = draw.choice(legal)
                real.apply(state, action)
                mirror = plain.apply(mirror, action)


@pytest.mark.parametrize("options", SETTINGS, ids=name)
def test_something_can_always_be_learned(options: dict[str, Any]) -> None:
    """On crossing and partial gold, in any configuration, by every oracle."""
    real = systems.create("arc_swift", labels=("a", "b"), **options)
    draw = random.Random(2)
    for walk in range(60):
        n = draw.randint(1, 25)
        heads: list[int | None] = list(crossing_heads(n, draw))
        labels = [draw.choice(("a", "b", None)) for _ in range(n)]
        if walk % 3:
            heads = [None if draw.random() < 0.3 else head for head in heads]
        gold = Gold(heads, labels)
        state = real.initial(n)
        while not state.is_final:
            legal = real.actions(state)
            costs = real.costs(state, gold)
            assert list(costs) == legal
            assert min(costs.values()) == 0
            assert move_costs(real, state, gold) == list(costs.values())
            for oracle in real.oracles:
                told = real.oracle(state, gold, oracle)
                assert told and told <= {action for action, cost in costs.items() if cost == 0}
                assert oracle != "static" or len({action[:2] for action in told}) == 1
            real.apply(state, draw.choice(legal))
        assert real.loss(state, gold) == sum(
            head is not None
            and (head != state.heads[w] or labels[w] not in (None, state.labels[w]))
            for w, head in enumerate(heads)
        )


def test_errors_on_crossing_gold() -> None:
    """On crossing gold trees the loss told can be wrong, seldom."""
    cases = [case for case in CASES if case.system == "arc_swift" and not case.projective]
    assert len(cases) == 4
    for case in cases:
        result = check(case, 4)
        assert 0 < result.wrong_losses < result.trees * result.configurations / 100


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


def test_long_sentences() -> None:
    """Chains and flat trees, to the left and to the right."""
    n = 300
    chain = [max(0, word - 1) for word in range(n)]
    real = systems.create("arc_swift", single_root=True)
    for heads in (chain, [n - 1] * n, [0] * n, [min(n - 1, word + 1) for word in range(n)]):
        for oracle in real.oracles:
            state = real.initial(n)
            for action in real.derivation(Gold(heads), oracle):
                real.apply(state, action)
            assert state.tree()[0] == heads
    state = real.initial(n)
    real.apply(state, Action("SHIFT"))
    for _ in range(n - 1):
        real.apply(state, Action("RIGHT-ARC"))
    assert real.actions(state) == [Action("LEFT-ARC", n)]
