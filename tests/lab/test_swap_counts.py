"""SWAPs by oracle: of derivations of trees, and of those that a trained parser follows."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from spacy.language import Language
from spacy.tokens import DocBin

from spacy_nmparse import systems
from spacy_nmparse.analysis import all_derivations
from spacy_nmparse.lab.latent import CountSwaps, swaps_per_sentence
from spacy_nmparse.lab.statistics import count_transitions
from spacy_nmparse.lab.swap_counts import count_swaps, is_unique
from spacy_nmparse.systems import Gold
from tests.pipe.common import TREES, gold_doc, random_heads, random_parser, system

ORACLES = ("eager", "lazy", "minimal")
SWAP = systems.create("swap_standard")


def n_swaps(heads: list[int], oracle: str) -> int:
    return sum(action.move == "SWAP" for action in SWAP.derivation(Gold(heads), oracle))


def test_swaps_are_those_of_derivations() -> None:
    """Though they are counted without them."""
    rng = random.Random(0)
    trees = [random_heads(n % 14 + 1, rng) for n in range(1, 41)]
    for heads in trees:
        found = count_swaps([heads])["swaps"]
        assert found == {oracle: n_swaps(heads, oracle) for oracle in ORACLES}
        counted = count_transitions([heads])["swap_standard"]["transitions"]
        assert counted == len(SWAP.derivation(Gold(heads), "eager"))
    found = count_swaps([*trees, [0, 0, 1, 2]])
    assert (found["sentences"], found["not_proven"]) == (41, 0) and found["projective"] > 3
    assert 100 < found["swaps"]["minimal"] <= found["swaps"]["lazy"] <= found["swaps"]["eager"]


def test_unique_derivations_are_those_of_which_there_is_one() -> None:
    rng = random.Random(0)
    kinds = set()
    for _ in range(60):
        heads = random_heads(rng.randint(1, 5), rng)
        derivations = all_derivations(SWAP, Gold(heads), "nd_all")
        several = next(derivations) is not None and next(derivations, None) is not None
        assert is_unique(SWAP, Gold(heads)) == (not several), heads
        kinds.add(several)
    assert kinds == {True, False}


@pytest.fixture(scope="module")
def swapping() -> Language:
    return random_parser(1, system=system("SwapStandard"), projectivize=False)


def test_static_oracles_have_their_own_swaps(swapping: Language) -> None:
    golds = [gold_doc(swapping.vocab, [number]) for number in range(len(TREES))]
    for oracle in ORACLES:
        expected = sum(n_swaps(heads, oracle) for _, heads, _ in TREES)
        assert expected > 0
        assert swaps_per_sentence(swapping, golds, oracle) == expected / len(golds)


def test_the_model_chooses(swapping: Language) -> None:
    """A sentence with several derivations: other models follow other ones."""
    golds = [gold_doc(swapping.vocab, [2])]
    found = set()
    for seed in range(6):
        nlp = random_parser(seed, system=system("SwapStandard"), projectivize=False)
        found.add(swaps_per_sentence(nlp, golds, "nd_all"))
    assert len(found) > 1
    least = swaps_per_sentence(swapping, golds, "minimal")
    assert min(found) >= least


def test_other_systems_have_none(trained: Language) -> None:
    with pytest.raises(ValueError, match="no SWAP"):
        swaps_per_sentence(trained, [gold_doc(trained.vocab, [0])])


def test_the_callback(swapping: Language, tmp_path: Path) -> None:
    DocBin(docs=[gold_doc(swapping.vocab, [2, 3])]).to_disk(tmp_path / "a.spacy")
    output = tmp_path / "swaps.jsonl"
    count = CountSwaps(str(tmp_path / "a.spacy"), str(output), ["eager", "nd_all"])
    for step, epoch in enumerate((0, 0, 1)):
        count(swapping, {"step": step, "epoch": epoch})
    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert [(line["epoch"], line["oracle"]) for line in lines] == [
        (epoch, oracle) for epoch in (0, 1) for oracle in ("eager", "nd_all")
    ]
    assert lines[0]["swaps_per_sentence"] == lines[2]["swaps_per_sentence"] > 0
