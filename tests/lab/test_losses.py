"""Which gold arcs a move loses."""

from __future__ import annotations

import random
from typing import Any

import pytest

from spacy_nmparse import systems
from spacy_nmparse.lab.losses import lost_arcs
from spacy_nmparse.systems import Action, Gold
from tests.naive.trees import golds


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("arc_eager", {}),
        ("arc_eager", {"root_first": True}),
        ("arc_standard", {}),
        ("covington", {}),
    ],
)
def test_what_is_lost_adds_up(name: str, options: dict[str, Any]) -> None:
    """The arcs that are lost by name, and those of which some are, are the loss; a name is told
    once."""
    system = systems.create(name, **options)
    draw = random.Random(0)
    for tree in draw.sample(golds(5, partial=True), 40):
        gold = Gold(*tree)
        state = system.initial(5)
        actions: list[Action] = []
        while not state.is_final:
            actions.append(draw.choice(system.actions(state)))
            system.apply(state, actions[-1])
        steps = list(lost_arcs(system, gold, actions))
        assert len(steps) == len(actions) + 1
        named = [arc.dependent for lost, _ in steps for arc in lost.arcs]
        assert len(named) == len(set(named)) == steps[-1][1] == system.loss(state, gold)
        for lost, loss in steps:
            assert loss <= len(named)
            assert bool(lost.others) == bool(lost.n_others)
            assert lost.n_others < max(1, len(lost.others))
