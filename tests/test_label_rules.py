"""What ``benchmarks.label_rules`` counts."""

from __future__ import annotations

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from benchmarks.label_rules import broken

RULES = ["nsubj", "obj"], ["det"]


@pytest.mark.parametrize(
    ("heads", "labels", "is_broken"),
    [
        ([1, 1, 1], "nsubj ROOT obj", False),
        ([1, 1, 1], "nsubj ROOT nsubj", True),
        ([1, 1, 1, 2], "nsubj ROOT ccomp nsubj", False),
        ([1, 2, 2], "advmod det ROOT", True),
        ([2, 2, 2], "advmod det ROOT", False),
    ],
)
def test_sentences_that_break_a_rule(heads: list[int], labels: str, is_broken: bool) -> None:
    """Two subjects of one word; a determiner with a dependent."""
    doc = Doc(Vocab(), ["w"] * len(heads), heads=heads, deps=labels.split())
    assert broken([doc], *RULES) == is_broken
