"""SWAPs by oracle, and trees with one derivation."""

from __future__ import annotations

import random

from spacy_nmparse import systems
from spacy_nmparse.analysis import all_derivations
from spacy_nmparse.lab.statistics import count_transitions
from spacy_nmparse.lab.swap_counts import count_swaps, is_unique
from spacy_nmparse.systems import Gold
from tests.pipe.common import TREES, random_heads

CHAIN = [0, 0, 1, 2]
CROSSING = TREES[2][1]


def test_swaps() -> None:
    found = count_swaps([CHAIN, CROSSING])
    assert (found["sentences"], found["projective"], found["not_proven"]) == (2, 1, 0)
    system = systems.create("swap_standard")
    for oracle, count in found["swaps"].items():
        moves = system.derivation(Gold(CROSSING), oracle)
        assert count == sum(action.move == "SWAP" for action in moves) > 0
    assert found["swaps"]["minimal"] <= found["swaps"]["lazy"] <= found["swaps"]["eager"]


def test_swaps_are_those_of_derivations() -> None:
    """Though they are counted without them."""
    rng = random.Random(0)
    system = systems.create("swap_standard")
    n_found = 0
    for n in range(1, 41):
        heads = random_heads(n % 14 + 1, rng)
        found = count_swaps([heads])["swaps"]
        moves = {name: system.derivation(Gold(heads), name) for name in found}
        n_found += found["eager"]
        assert found == {
            name: sum(action.move == "SWAP" for action in made) for name, made in moves.items()
        }
        counted = count_transitions([heads])["swap_standard"]["transitions"]
        assert counted == len(moves["eager"])
    assert n_found > 100


def test_unique_derivations_are_those_of_which_there_is_one() -> None:
    rng = random.Random(0)
    system = systems.create("swap_standard")
    kinds = set()
    for _ in range(60):
        heads = random_heads(rng.randint(1, 5), rng)
        derivations = all_derivations(system, Gold(heads), "nd_all")
        several = next(derivations) is not None and next(derivations, None) is not None
        assert is_unique(system, Gold(heads)) == (not several), heads
        kinds.add(several)
    assert kinds == {True, False}
