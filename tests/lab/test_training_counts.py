"""SWAPs of the derivations learned from, and speed by length."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from spacy.language import Language
from spacy.tokens import DocBin

from spacy_nmparse.lab.latent import CountSwaps, swaps_per_sentence
from spacy_nmparse.systems import Gold
from tests.pipe.common import TREES, gold_doc, random_parser, system


@pytest.fixture(scope="module")
def swapping() -> Language:
    return random_parser(1, system=system("SwapStandard"), projectivize=False)


def test_static_oracles_have_their_own_swaps(swapping: Language) -> None:
    parser = swapping.get_pipe("nm_parser")
    golds = [gold_doc(swapping.vocab, [number]) for number in range(len(TREES))]
    for oracle in ("eager", "lazy", "minimal"):
        expected = 0
        for _, heads, deps in TREES:
            gold = Gold(heads, deps.split())
            moves = parser.system.derivation(gold, oracle)  # type: ignore[attr-defined]
            expected += sum(action.move == "SWAP" for action in moves)
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
