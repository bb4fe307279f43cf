"""Random walks and long sentences: what must hold of configurations, moves and costs; see
tests/fuzz.py for more."""

from __future__ import annotations

import random

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold
from spacy_nmparse.systems.walk import random_walk
from tests.fuzz import fuzz, main, random_crossing, random_projective, random_swapped, variants
from tests.naive.trees import is_forest, is_projective
from tests.systems.twins import replay


@pytest.mark.parametrize(
    ("transitions", "seed"), [(20_000, 0), pytest.param(150_000, 1, marks=pytest.mark.slow)]
)
def test_fuzz(transitions: int, seed: int) -> None:
    counts, faults = fuzz(transitions, seed)
    assert faults == [] and set(counts) == set(systems.names())
    for name, found in counts.items():
        assert found["transitions"] > transitions / 60
        assert found["judged"] > transitions / 120
        assert found["trees"] > 15
        assert (found["exact"] > transitions / 600) == (name != "swap_standard")


def test_same_seed_same_walks() -> None:
    once, again, other = (fuzz(2_000, seed, "covington") for seed in (3, 3, 4))
    assert once == again != other


def test_trees_are_as_said() -> None:
    rng = random.Random(0)
    crossing = 0
    for _ in range(200):
        n, one_root = rng.randint(1, 12), rng.random() < 0.5
        projective, other = random_projective(n, one_root, rng), random_crossing(n, one_root, rng)
        swapped = random_swapped(n, one_root, rng)
        assert is_projective(tuple(projective))
        crossing += not is_projective(tuple(other))
        for heads in (projective, other, swapped):
            assert is_forest(tuple(heads))
            assert not one_root or sum(h == w for w, h in enumerate(heads)) == 1
    assert crossing > 50


def test_all_options_are_walked() -> None:
    cases = variants()
    assert {case.system for case in cases} == set(systems.names())
    options = {(key, value) for case in cases for key, value in case.options.items() if value}
    assert {("nonmonotonic", True), ("explicit_root", True)} <= options
    assert {("push", "shift"), ("push", "right_arc"), ("max_length", 1)} <= options


def test_bad_arguments() -> None:
    system = systems.create("arc_eager")
    with pytest.raises(ValueError, match="oracle"):
        random_walk(system, system.initial(2), 0, Gold([0, 0]), oracle="lazy")
    with pytest.raises(ValueError, match="3 words"):
        random_walk(system, system.initial(2), 0, Gold([0, 0, 0]))


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--transitions", "500", "--system", "arc_hybrid"]) == 0
    assert "| arc_hybrid | " in capsys.readouterr().out


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
