"""Costs one by one, as Cython code elsewhere asks for them, are those that Python sees."""

from __future__ import annotations

import random

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Gold
from tests.exhaustive import key
from tests.naive.trees import golds
from tests.systems.twins import LABELS, TWINS, Options, Twin, labels_to_note, name, with_labels

SMALL = [(1, 40, 4), (2, 80, 6), (3, 60, 4)]
ALL = [(1, 1000, 100), (2, 1000, 100), (3, 400, 100)]


def compare(twin: Twin, labels: Options, sizes: list[tuple[int, int, int]]) -> None:
    """sizes: numbers of words, of configurations at most, and of gold trees, crossing ones and
    partial ones among them."""
    system = systems.create(twin.system, **twin.options, **labels)
    draw = random.Random(0)
    segment = twin.options.get("segment", False)
    for n, n_states, n_golds in sizes:
        trees = list(golds(n, projective=False, partial=True, segment=segment))
        some = draw.sample(trees, min(n_golds, len(trees)))
        if n == 3:
            some.append(trees[0]._replace(heads=(1, 1, 0), sent_starts=None))
        pool = [Gold(*with_labels(tree, labels, draw, "ab")) for tree in some]
        todo, seen = [system.initial(n)], set()
        while todo and len(seen) < n_states:
            state = todo.pop(0)
            if state.is_final or key(state) in seen:
                continue
            seen.add(key(state))
            note = draw.choice(labels_to_note(system))
            for gold in pool:
                costs = system.costs(state, gold, push_label=note)
                assert costs == {
                    action: system.cost(state, gold, action, push_label=note) for action in costs
                }
            for action in system.actions(state):
                copy = state.copy()
                system.apply(copy, action, push_label=note)
                todo.append(copy)


@pytest.mark.parametrize("labels", LABELS, ids=name)
@pytest.mark.parametrize("twin", TWINS, ids=str)
def test_costs_one_by_one(twin: Twin, labels: Options) -> None:
    compare(twin, labels, SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("labels", LABELS, ids=name)
@pytest.mark.parametrize("twin", TWINS, ids=str)
def test_costs_one_by_one_on_more_trees(twin: Twin, labels: Options) -> None:
    compare(twin, labels, ALL)
