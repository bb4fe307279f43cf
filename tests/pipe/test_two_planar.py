"""The 2-planar system in a pipeline: both stacks are seen, words without a head get one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.pipe.common import (
    SWAP,
    assert_sound,
    knows_the_trees,
    make_examples,
    make_nlp,
    model_config,
    overfitted,
    parser_of,
    random_doc,
    random_parser,
    train,
    tree,
)

CONFIG: dict[str, Any] = {
    "factory": SWAP,
    "system": {"@misc": "spacy_nmparse.System.v1", "name": "two_planar"},
    "model": model_config(features=None),
    "oracle": "dynamic",
    "explore": 1.0,
}


def test_overfitting() -> None:
    """By the static oracle: the dynamic one leaves so many ways free that what is known by heart
    of one may be little of the next."""
    nlp = overfitted(**{**CONFIG, "oracle": "static", "explore": 0.0})
    assert knows_the_trees(nlp)
    assert {"T0", "T0*B0", "switched"} <= set(parser_of(nlp).model.attrs["features"])


def test_training_by_the_dynamic_oracle() -> None:
    nlp = make_nlp(**CONFIG)
    examples = make_examples(nlp.vocab)
    first = train(nlp, examples, steps=1)
    assert train(nlp, examples, steps=60) < first / 4


@pytest.mark.parametrize("beam_width", [1, 4])
def test_every_tree_has_one_root(beam_width: int) -> None:
    """Whatever the weights: words without a head at the end get one."""
    draw = random.Random(0)
    for seed in range(3):
        nlp = random_parser(seed, **CONFIG, beam_width=beam_width, confidence=True)
        for _ in range(8):
            doc = random_doc(nlp.vocab, draw, draw.randint(0, 40))
            again = doc.copy()
            assert_sound(nlp(doc))
            assert tree(nlp(again)) == tree(doc)
