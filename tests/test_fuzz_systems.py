"""Hostile values for gold trees and transition systems: what is right, or a ValueError."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold
from spacy_nmparse.systems.walk import random_walk
from tests.exhaustive import key
from tests.hostile import PROFILE, starts
from tests.systems.twins import REPAIRS

LABELS = ("a", "b", "ROOT")
OPTIONS: dict[str, st.SearchStrategy[Any]] = {
    "nonmonotonic_left": st.booleans(),
    "nonmonotonic_reduce": st.booleans(),
    "labelled_reduce": st.booleans(),
    "repairs": st.lists(st.sampled_from([*REPAIRS, "x"])),
    "decoupled_repairs": st.booleans(),
    "unshift": st.booleans(),
    "push": st.sampled_from(["any", "shift", "right_arc", "left"]),
    "max_search_states": st.integers(-1, 5),
    "root_first": st.booleans(),
    "buffer_arcs": st.booleans(),
    "nonmonotonic": st.booleans(),
    "explicit_root": st.booleans(),
    "max_length": st.integers(-1, 3),
    "single_root": st.booleans(),
    "segment": st.booleans(),
    "root_label": st.sampled_from([None, None, "ROOT", "c"]),
}
MOVES = ("SHIFT", "REDUCE", "LEFT-ARC", "RIGHT-ARC", "NO-ARC", "SWAP", "RIGHT-LOWER", "BREAK", "x")
OWN = {name: set(systems.create(name).options) for name in systems.names()}


@st.composite
def made(draw: st.DrawFn) -> systems.TransitionSystem | None:
    """A system of any kind with any of its options; None where they do not go together."""
    name = draw(st.sampled_from(systems.names()))
    chosen = draw(st.sets(st.sampled_from(sorted(OWN[name]))))
    labels = draw(st.sampled_from([None, LABELS, ("a",)]))
    options = {option: draw(OPTIONS[option]) for option in sorted(chosen)}
    try:
        return systems.create(name, labels=labels, **options)
    except ValueError:
        return None


@st.composite
def golds(draw: st.DrawFn, n: int, labels: tuple[str, ...] | None) -> Gold:
    """A gold tree: heads are drawn until they are one."""
    heads: list[int | None] = []
    for word in draw(st.permutations(range(n))):
        heads.append(word)
    order = list(heads)
    for place, word in enumerate(order):
        above = [*order[:place], word, None]
        heads[word] = draw(st.sampled_from(above))
    own = None
    if labels is not None:
        own = [draw(st.sampled_from([*labels, None])) for _ in range(n)]
    return Gold(heads, own)


def is_tree(heads: list[int | None]) -> bool:
    n = len(heads)
    if any(head is not None and not 0 <= head < n for head in heads):
        return False
    for word in range(n):
        seen = set()
        above: int | None = word
        while above is not None and heads[above] != above:
            if above in seen:
                return False
            seen.add(above)
            above = heads[above]
    return n > 0


@PROFILE
@given(st.lists(st.none() | st.integers(-3, 8), max_size=8))
def test_gold_takes_trees_and_nothing_else(heads: list[int | None]) -> None:
    if is_tree(heads):
        assert list(Gold(heads).heads) == heads
    else:
        with pytest.raises(ValueError):
            Gold(heads)


@PROFILE
@given(
    st.lists(st.none() | st.integers(-1, 5), min_size=1, max_size=5),
    st.none() | st.lists(st.none() | st.sampled_from(["a", "", "zz"]), max_size=6),
    st.none() | st.lists(st.sampled_from([None, True, False]), max_size=6),
)
def test_gold_with_anything(heads: Any, labels: Any, sent_starts: Any) -> None:
    system = systems.create("arc_eager", labels=("a",), segment=True)
    try:
        gold = Gold(heads, labels, sent_starts)
    except ValueError:
        return
    n = len(heads)
    assert len(gold) == n == len(gold.labels) == len(gold.sent_starts)
    if set(gold.labels) <= {"a", None}:
        assert 0 <= system.loss(system.initial(n), gold) <= 2 * n
    else:
        with pytest.raises(ValueError, match="not among"):
            system.loss(system.initial(n), gold)


@PROFILE
@given(st.data())
def test_any_system_any_tree(data: st.DataObject) -> None:
    system = data.draw(made())
    if system is None:
        return
    n = data.draw(st.integers(1, 9))
    presets = data.draw(st.none() | st.lists(starts, min_size=n, max_size=n))
    gold = data.draw(golds(n, system.labels))
    state = system.initial(n, sent_starts=presets)
    oracle = data.draw(st.sampled_from(system.oracles))
    random_walk(system, state, data.draw(st.integers(0, 2**64 - 1)), gold, oracle)
    heads, _ = state.tree()
    assert is_tree(list(heads))
    assert system.loss(state, gold) >= 0


@PROFILE
@given(st.data())
def test_any_action(data: st.DataObject) -> None:
    """An action that is not legal is refused, and changes nothing."""
    system = data.draw(made())
    if system is None:
        return
    n = data.draw(st.integers(1, 5))
    state = system.initial(n)
    labels = (None, *LABELS, "zz")
    for _ in range(12):
        legal = system.actions(state)
        assert bool(legal) != state.is_final
        action = Action(
            data.draw(st.sampled_from(MOVES)),
            data.draw(st.integers(-1, n + 2)),
            data.draw(st.sampled_from(labels)),
        )
        if action in legal:
            system.apply(state, action)
            continue
        before = key(system, state)
        with pytest.raises(ValueError):
            system.apply(state, action)
        assert key(system, state) == before
        if legal:
            system.apply(state, data.draw(st.sampled_from(legal)))


@PROFILE
@given(st.integers(-5, 3), st.lists(st.integers(-2, 2), max_size=4))
def test_any_start(n: int, sent_starts: list[int]) -> None:
    system = systems.create("arc_eager", segment=True)
    right = n == len(sent_starts) and set(sent_starts) <= {-1, 0, 1} and n > 0
    if right:
        assert system.initial(n, sent_starts=sent_starts).n_words == n
    else:
        with pytest.raises(ValueError):
            system.initial(n, sent_starts=sent_starts)
