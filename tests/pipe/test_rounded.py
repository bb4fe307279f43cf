"""Parsing with numbers rounded to 16 bits, where the processor is faster with them."""

from __future__ import annotations

import pytest

from spacy_nmparse.layers import products
from spacy_nmparse.layers.products import HAS_FIXED
from tests.pipe.common import (
    bare,
    random_docs,
    random_parser,
    surely_parsed,
)

needs_fixed = pytest.mark.skipif(not HAS_FIXED, reason="the processor rounds nothing")


@needs_fixed
@pytest.mark.parametrize("factory", ["nm_parser", "nl_covington_parser"])
def test_nearly_the_same(factory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most trees are the exact ones, and the confidences near those; but they are not those."""
    nlp = random_parser(3, factory=factory, confidence=True)
    docs = random_docs(nlp.vocab, 1, (1, 5, 20) * 20)
    parses = []
    for rounds in (False, True):
        monkeypatch.setattr(products, "HAS_FIXED", rounds)
        products._known.clear()
        parses.append(surely_parsed(nlp.pipe(map(bare, docs))))
    differences = [
        abs(sure - known)
        for (found, (sures, _)), (expected, (knowns, _)) in zip(*parses, strict=True)
        if found == expected
        for sure, known in zip(sures, knowns, strict=True)
    ]
    assert len(differences) > 300
    assert 0 < sum(differences) / len(differences) < 0.001
