"""The weight of configurations where nothing but a non-monotonic move is right."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import spacy

from tests.pipe.common import NL, NM, make_examples, make_nlp, parser_of, train

LISTS = {"@misc": "spacy_nmparse.NLCovington.v1", "nonmonotonic": True}
REPAIRS = {
    "@misc": "spacy_nmparse.ArcEager.v1",
    "nonmonotonic_left": True,
    "nonmonotonic_reduce": True,
    "repairs": ["right_lower", "right_raise", "left_invert"],
}


def learned(factory: str, **config: Any) -> list[tuple[float, numpy.ndarray]]:
    """Loss and gradient of the hidden layer's bias, by weights 0, 1 and 3, of one parser's way
    through the same trees."""
    nlp = make_nlp(factory=factory, **config)
    examples = make_examples(nlp.vocab) * 5
    train(nlp, examples, steps=1, drop=0.5)
    parser = parser_of(nlp)
    found = []
    for weight in (0, 1, 3):
        parser.repair_weight = weight
        numpy.random.seed(1)
        docs = [example.predicted for example in examples]
        scores, _ = parser.model.begin_update(docs)
        loss, gradients = parser.get_loss(examples, scores)
        (name, *_) = (name for name in gradients.weights if name.endswith("bias"))
        found.append((loss, gradients.weights[name]))
    return found


@pytest.mark.parametrize(
    ("factory", "config"), [(NM, {}), (NM, {"system": REPAIRS}), (NL, {"system": LISTS})]
)
def test_loss_and_gradient_grow_with_the_weight(factory: str, config: dict[str, Any]) -> None:
    """By as much from 1 to 3 as twice from 0 to 1."""
    (loss0, d0), (loss1, d1), (loss3, d3) = learned(factory, **config)
    assert 0 < loss0 < loss1
    assert loss3 - loss1 == pytest.approx(2 * (loss1 - loss0), rel=1e-5)
    assert numpy.abs(d1 - d0).max() > 1e-3
    numpy.testing.assert_allclose(d3 - d1, 2 * (d1 - d0), atol=1e-4)


@pytest.mark.parametrize("factory", [NL, "swap_parser"])
def test_monotonic_systems_have_no_such_configurations(factory: str) -> None:
    (loss0, d0), (loss1, d1), _ = learned(factory)
    assert loss0 == loss1
    assert (d0 == d1).all()


def test_monotonic_derivations_have_no_such_configurations() -> None:
    (loss0, d0), (loss1, d1), _ = learned(NM, oracle="monotonic", explore=0.0)
    assert loss0 == loss1 > 0
    assert (d0 == d1).all()


def test_setting() -> None:
    nlp = make_nlp(repair_weight=2.5)
    assert parser_of(nlp).repair_weight == 2.5
    again = spacy.util.load_model_from_config(nlp.config, auto_fill=True)
    assert parser_of(again).repair_weight == 2.5
    assert parser_of(make_nlp()).repair_weight == 1


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), True, "much"])
def test_wrong_weights(weight: Any) -> None:
    parser = parser_of(make_nlp())
    with pytest.raises(ValueError, match=f"nm_parser.*repair_weight.*{weight!r}"):
        parser.repair_weight = weight
    assert parser.repair_weight == 1
