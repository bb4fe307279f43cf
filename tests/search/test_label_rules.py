"""Labels that search may not give, whatever the scorer likes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from spacy.tokens import Doc

from tests.pipe.common import SYSTEMS, parser_of, random_docs, random_parser


def doubled(doc: Doc, label: str) -> int:
    """Words with several dependents of the label."""
    counts = Counter(token.head.i for token in doc if token.dep_ == label)
    return sum(n > 1 for n in counts.values())


def with_children(doc: Doc, label: str) -> int:
    """Words with the label that have dependents."""
    return sum(
        token.dep_ == label and not all(child.is_space for child in token.children) for token in doc
    )


def parsed(parser: Any, **settings: Any) -> list[Doc]:
    for name, value in settings.items():
        setattr(parser, name, value)
    return list(parser.pipe(random_docs(parser.vocab, 1, range(4, 25))))


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("name", ["nl", "swap", "labelled reduce", "covington"])
def test_rules_hold(name: str, width: int) -> None:
    """One of many labels may always give way to another, and an arc to NO-ARC."""
    broken = {"unique_labels": 0, "childless_labels": 0}
    for seed in range(3):
        parser: Any = parser_of(random_parser(seed, **SYSTEMS[name], projectivize=False))
        for setting, count in (("unique_labels", doubled), ("childless_labels", with_children)):
            if setting == "childless_labels" and name != "nl":
                continue  # at the end of a sentence, no other arc may be left
            free = parsed(parser, beam_width=width)
            (label, _), *_ = Counter(
                token.dep_ for doc in free for token in doc if token.dep_ not in ("ROOT", "dep")
            ).most_common()
            broken[setting] += sum(count(doc, label) for doc in free)
            bound = parsed(parser, **{setting: [label]})
            assert sum(count(doc, label) for doc in bound) == 0
            assert any(token.dep_ == label for doc in bound for token in doc)
            setattr(parser, setting, [])
    assert broken["unique_labels"] and (name != "nl" or broken["childless_labels"])
