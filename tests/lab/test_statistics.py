"""Counts over treebanks, by hand and against each other."""

from __future__ import annotations

import pytest

from spacy_nmparse.analysis.trees import Tree
from spacy_nmparse.lab.statistics import (
    bin_name,
    bin_names,
    columns,
    count_transitions,
    describe,
)
from tests.pipe.common import TREES

CHAIN = [0, 0, 1, 2]
CROSSING = TREES[2][1]


def test_transitions() -> None:
    """By hand: arcs and SHIFTs; NO-ARCs of Covington; each word pushed and popped in arc-eager."""
    found = count_transitions([CHAIN])
    expected = {
        "covington": 4 + 3 + 0,
        "nl_covington": 4 + 3,
        "nl_covington, explicit root": 4 + 4,
        "swap_standard": 4 + 4,
        "arc_eager, projective trees": 1 + 3 + 3 + 1 + 1,  # SHIFT, RIGHT-ARCs, REDUCEs, the root
    }
    assert {name: found[name]["transitions"] for name in expected} == expected
    assert found["nl_covington"]["per_sentence"] == 7


def test_crossing_trees_are_not_for_arc_eager() -> None:
    found = count_transitions([CROSSING, CHAIN])
    for name, (_, _, crossing) in columns().items():
        assert found[name]["sentences"] == 1 + crossing
    assert count_transitions([CROSSING])["arc_eager, projective trees"]["per_sentence"] is None


def test_describe() -> None:
    sentences = [Tree(["a"] * len(heads), list(heads), deps.split()) for _, heads, deps in TREES]
    sentences.append(Tree(["a", "b"], [None, 1], [None, "ROOT"]))
    sentences.append(Tree(["a", "b"], [1, 0], ["x", "x"]))
    sentences.append(Tree(["a", "b"], [0, 1], ["ROOT", "ROOT"]))
    found = describe(sentences)
    assert (found["sentences"], found["trees"]) == (9, 7)
    assert found["faults"] == {"unknown heads": 1, "cycle": 1}
    assert found["several_roots"] == 1
    assert found["words"] == sum(len(heads) for _, heads, _ in TREES) + 6
    assert found["arcs"] == found["words"] - 6 - len(TREES)
    assert found["labels"]["ROOT"] == len(TREES) + 2
    assert found["projective_sentences"] == 7 - 2
    assert sum(found["arc_length"]["bins"].values()) == found["arcs"]
    assert sum(found["sentence_length"]["bins"].values()) == found["sentences"]
    assert found["crossing_arcs"] == sum(found["crossing_arc_length"]["bins"].values()) > 0
    assert found["sentence_length"]["most"] == 8
    assert describe([])["arc_length"]["mean"] is None


@pytest.mark.parametrize(
    ("length", "name"), [(1, "1"), (2, "2"), (5, "3-5"), (6, "6-10"), (40, "21-40"), (99, "41+")]
)
def test_bins(length: int, name: str) -> None:
    assert bin_name(length) == name
    assert name in bin_names()
