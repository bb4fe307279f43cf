"""The weights of configurations where nothing but a non-monotonic move, or an arc that crosses, is
right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pytest
import spacy

from spacy_nmparse.learning import rollout
from spacy_nmparse.systems import Gold
from tests.pipe.common import (
    DOCUMENTS,
    NL,
    NM,
    make_examples,
    make_nlp,
    parser_of,
    train,
)

SWAP = "swap_parser"
#: Documents of projective trees.
PROJECTIVE = [[0], [1], [4], [0, 1]]
#: Of "What do you want", and `dep`, which every parser has; a root's is no choice.
N_LABELS = 4

LISTS = {"@misc": "spacy_nmparse.NLCovington.v1", "nonmonotonic": True}
REPAIRS = {
    "@misc": "spacy_nmparse.ArcEager.v1",
    "nonmonotonic_left": True,
    "nonmonotonic_reduce": True,
    "repairs": ["right_lower", "right_raise", "left_invert"],
}


def learned(
    weighed: str, factory: str, documents: Sequence[Sequence[int]] = DOCUMENTS, **config: Any
) -> list[tuple[float, numpy.ndarray]]:
    """Loss and gradient of the hidden layer's bias, by weights 0, 1 and 3, of one parser's way
    through the same trees."""
    nlp = make_nlp(factory=factory, **config)
    examples = make_examples(nlp.vocab, documents) * 5
    train(nlp, examples, steps=1, drop=0.5)
    parser = parser_of(nlp)
    found = []
    for weight in (0, 1, 3):
        setattr(parser, weighed, weight)
        numpy.random.seed(1)
        docs = [example.predicted for example in examples]
        scores, _ = parser.model.begin_update(docs)
        loss, gradients = parser.get_loss(examples, scores)
        (name, *_) = (name for name in gradients.weights if name.endswith("bias"))
        found.append((loss, gradients.weights[name]))
    return found


@pytest.mark.parametrize(
    ("weighed", "factory", "config"),
    [
        ("repair_weight", NM, {}),
        ("repair_weight", NM, {"system": REPAIRS}),
        ("repair_weight", NL, {"system": LISTS}),
        ("crossing_weight", NL, {}),
        ("crossing_weight", SWAP, {}),
    ],
)
def test_loss_and_gradient_grow_with_the_weight(
    weighed: str, factory: str, config: dict[str, Any]
) -> None:
    """By as much from 1 to 3 as twice from 0 to 1."""
    (loss0, d0), (loss1, d1), (loss3, d3) = learned(weighed, factory, **config)
    assert 0 < loss0 < loss1
    assert loss3 - loss1 == pytest.approx(2 * (loss1 - loss0), rel=1e-5)
    assert numpy.abs(d1 - d0).max() > 1e-3
    numpy.testing.assert_allclose(d3 - d1, 2 * (d1 - d0), atol=1e-4)


@pytest.mark.parametrize(
    ("weighed", "factory", "documents"),
    [
        ("repair_weight", NL, DOCUMENTS),
        ("repair_weight", SWAP, DOCUMENTS),
        ("crossing_weight", NL, PROJECTIVE),
        ("crossing_weight", NM, PROJECTIVE),
    ],
)
def test_no_such_configurations(
    weighed: str, factory: str, documents: Sequence[Sequence[int]]
) -> None:
    """Monotonic systems make no repairs, projective trees have no arcs that cross."""
    (loss0, d0), (loss1, d1), _ = learned(weighed, factory, documents)
    assert loss0 == loss1
    assert (d0 == d1).all()


@pytest.mark.parametrize(
    ("factory", "choices"),
    [
        # LEFT-ARC or SHIFT; a label for the arc
        (NL, [2, N_LABELS]),
        # SWAP, SHIFT, BREAK or an arc to either side; later an arc or SHIFT; its label
        (SWAP, [5, 3, N_LABELS]),
    ],
)
def test_which_configurations_cross(factory: str, choices: list[int]) -> None:
    """In "What do you want", that where its one crossing arc is made, and SWAP. Without weights all
    choices are equally likely, so the loss tells how many there were."""
    nlp = make_nlp(factory=factory)
    examples = make_examples(nlp.vocab, [[3]])
    nlp.initialize(lambda: examples)
    parser = parser_of(nlp)
    for node in parser.model.walk():
        for name in node.param_names:
            if node.has_param(name):
                node.set_param(name, node.get_param(name) * 0)
    reference = examples[0].reference
    gold = Gold([token.head.i for token in reference], [token.dep_ for token in reference])
    scored, _ = parser.model.begin_update([reference])
    losses = []
    for weight in (0.0, 1.0):
        constraints = numpy.zeros(len(reference), "int8")
        batch = (parser.system, scored, [gold], constraints, parser.oracle)
        _, loss, _ = rollout.learn(*batch, 0.0, 1.0, weight, 0.0, 1)
        losses.append(loss)
    assert losses[1] - losses[0] == pytest.approx(numpy.log(choices).sum(), rel=1e-5)


@pytest.mark.parametrize("weighed", ["repair_weight", "crossing_weight"])
def test_setting(weighed: str) -> None:
    nlp = make_nlp(**{weighed: 2.5})
    assert getattr(parser_of(nlp), weighed) == 2.5
    again = spacy.util.load_model_from_config(nlp.config, auto_fill=True)
    assert getattr(parser_of(again), weighed) == 2.5
    assert getattr(parser_of(make_nlp()), weighed) == 1


@pytest.mark.parametrize("weighed", ["repair_weight", "crossing_weight"])
@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), True, "much"])
def test_wrong_weights(weighed: str, weight: Any) -> None:
    parser = parser_of(make_nlp())
    with pytest.raises(ValueError, match=f"nm_parser.*{weighed}.*{weight!r}"):
        setattr(parser, weighed, weight)
    assert getattr(parser, weighed) == 1
