"""Parsing with numbers rounded to bfloat16, where the processor is faster with them."""

from __future__ import annotations

import pytest

from spacy_nmparse.layers.products import HAS_BFLOAT16
from tests.pipe.common import (
    bare,
    make_examples,
    parser_of,
    random_docs,
    random_parser,
    surely_parsed,
)

needs_bfloat16 = pytest.mark.skipif(not HAS_BFLOAT16, reason="the processor has no bfloat16")


@needs_bfloat16
@pytest.mark.parametrize("factory", ["nm_parser", "nl_covington_parser"])
def test_nearly_the_same(factory: str) -> None:
    """Most trees are the exact ones, and the confidences near those; but they are not those."""
    nlp = random_parser(3, factory=factory, confidence=True)
    docs = random_docs(nlp.vocab, 1, (1, 5, 20) * 20)
    parses = []
    for switch in (False, True):
        parser_of(nlp).rounded = switch
        parses.append(surely_parsed(nlp.pipe(map(bare, docs))))
    differences = [
        abs(sure - known)
        for (found, (sures, _)), (expected, (knowns, _)) in zip(*parses, strict=True)
        if found == expected
        for sure, known in zip(sures, knowns, strict=True)
    ]
    assert len(differences) > 300
    assert 0 < sum(differences) / len(differences) < 0.01


def test_training_is_exact() -> None:
    """What is learned does not depend on the setting."""
    learned = []
    for rounded in (False, True):
        nlp = random_parser(5, rounded=rounded)
        nlp.update(make_examples(nlp.vocab), sgd=nlp.create_optimizer())
        learned.append(parser_of(nlp).model.to_bytes())
    assert learned[0] == learned[1]
