"""Sentences and gold trees at the limits: long ones, and labels that no tree of the system has."""

from __future__ import annotations

import random

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold
from tests.systems.twins import replay


@pytest.mark.parametrize("name", systems.names())
def test_oracles_allow_something_whatever_the_labels(name: str) -> None:
    """Gold roots without the label for roots, other words with it."""
    system = systems.create(name, labels=("a", "ROOT"), root_label="ROOT")
    for gold in (Gold([0], ["a"]), Gold([0, 0], ["ROOT", "ROOT"]), Gold([1, 1], ["ROOT", "a"])):
        for oracle in system.oracles:
            state = system.initial(len(gold))
            for action in system.derivation(gold, oracle):
                system.apply(state, action)
            assert state.is_final


@pytest.mark.parametrize("name", systems.names())
def test_long_sentences(name: str) -> None:
    """Chains and flat trees, to the left and to the right; more items than fit into tables."""
    n = 300
    chain = [max(0, word - 1) for word in range(n)]
    real = systems.create(name, single_root=True)
    for heads in (chain, [n - 1] * n, [0] * n, [min(n - 1, word + 1) for word in range(n)]):
        for oracle in real.oracles:
            # the dynamic one of swap SHIFTs wherever a SWAP can undo it
            if oracle != "paper" and (name, oracle) != ("swap_standard", "dynamic"):
                assert replay(real, Gold(heads), oracle).tree()[0] == heads
    state = real.initial(n)
    for _ in range(200):
        real.apply(state, Action("SHIFT"))
    assert min(real.costs(state, Gold(chain)).values()) == 0
    draw = random.Random(3)
    while not state.is_final:
        real.apply(state, draw.choice(real.actions(state)))
