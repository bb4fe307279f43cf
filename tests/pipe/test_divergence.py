"""Training that diverges stops, and what it has left is neither saved nor loaded."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from spacy.language import Language

from tests.pipe.common import (
    NL,
    NM,
    listening_pipeline,
    make_examples,
    make_nlp,
    model_config,
    parser_of,
    random_parser,
)

STEPS: tuple[dict[str, Any], ...] = ({}, {"update": "max_violation"}, {"update": "early_update"})
MESSAGE = r"'{}' has diverged: .*(infinite|nan|inf).* lower the optimizer's learn_rate"


def diverges(nlp: Language, learn_rate: float) -> None:
    """Updates end in an error that names the parser, as saving does then."""
    examples = make_examples(nlp.vocab)
    sgd = nlp.initialize(lambda: examples)
    sgd.learn_rate = learn_rate
    message = MESSAGE.format(parser_of(nlp).name)
    with pytest.raises(ValueError, match=message):
        for _ in range(6):
            nlp.update(examples, sgd=sgd)
    with pytest.raises(ValueError, match=message):
        nlp.to_bytes()


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("factory", [NM, NL])
def test_steps_that_are_too_long(factory: str, steps: dict[str, Any]) -> None:
    diverges(make_nlp(factory=factory, **steps), 1e37)


def test_a_shared_tok2vec() -> None:
    diverges(listening_pipeline(NM, **model_config()), 1e37)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("factory", [NM, NL])
def test_token_vectors_that_are_no_numbers(factory: str, steps: dict[str, Any]) -> None:
    """Before any weight changes. A ReLU makes 0 of them: the loss does not show it."""
    nlp = random_parser(factory=factory, **steps)
    parser = parser_of(nlp)
    before = parser.to_bytes()
    table: Any = next(node for node in parser.model.walk() if "E" in node.param_names)
    rows = table.get_param("E").copy()
    table.set_param("E", numpy.full_like(rows, numpy.nan))
    with pytest.raises(ValueError, match="diverged: token vectors are infinite, or no numbers"):
        nlp.update(make_examples(nlp.vocab))
    table.set_param("E", rows)
    assert parser.to_bytes() == before
