"""Gradients of a rollout against finite differences of its loss."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest
from thinc.api import Model

from spacy_nmparse.pipe.teacher import Teachers
from spacy_nmparse.scorers.shared import recurrent_layers
from tests.pipe.common import (
    NL,
    SWAP,
    arc_model_config,
    gold_doc,
    make_example,
    make_nlp,
    model_config,
    parser_of,
    randomize,
)

pytestmark = pytest.mark.usefixtures("exact_products")

DOCUMENTS = [[0, 1], [1], [2], [4, 5]]
# What differs from the factory's defaults.
SYSTEMS: dict[str, dict[str, bool]] = {
    "nonmonotonic": {},
    "monotonic": {"nonmonotonic_left": False, "nonmonotonic_reduce": False},
    "labelled": {"nonmonotonic_left": False, "labelled_reduce": True},
    "recurrent": {},
}


OTHERS = ("nonmonotonic", "swap")


class Rollout:
    """The loss of one batch as a function of the parameters."""

    def __init__(self, system: str, pieces: int, dropout: float, **options: Any) -> None:
        sizes: dict[str, Any] = {"hidden_width": 6, "maxout_pieces": pieces}
        sizes["recurrent_width"] = 4 * (system not in ("nonmonotonic", "monotonic", "labelled"))
        if system == "nl_covington":
            model = arc_model_config(**sizes, recurrent_depth=2)
            config: dict[str, Any] = {"factory": NL, "model": model}
        elif system == "swap":
            config = {"factory": SWAP, "model": model_config(**sizes)}
        else:
            block = {"@misc": "spacy_nmparse.ArcEager.v1", **SYSTEMS[system]}
            config = {"system": block, "model": model_config(**sizes)}
        self.nlp = make_nlp(**{"oracle": "static", "explore": 0.0, **options, **config})
        self.examples = [make_example(gold_doc(self.nlp.vocab, trees)) for trees in DOCUMENTS]
        self.nlp.initialize(lambda: self.examples)
        self.parser: Any = parser_of(self.nlp)
        self.model: Model = self.parser.model
        randomize(self.model, 3, scale=0.12)
        randomize(self.model.get_ref("tok2vec"), 4, scale=0.4)
        self.dropout = dropout

    def __call__(self) -> float:
        numpy.random.seed(11)
        losses = self.parser.update(self.examples, drop=self.dropout, sgd=False)
        return losses[self.parser.name]

    def gradients(self) -> dict[tuple[int, str], numpy.ndarray]:
        for node in self.model.walk():
            for name in node.param_names:
                if node.has_grad(name):
                    node.set_grad(name, node.get_grad(name) * 0)
        self()
        return {
            (i, name): node.get_grad(name).copy()
            for i, node in enumerate(self.model.walk())
            for name in node.param_names
            if node.has_grad(name)
        }

    def difference(self, node: Model, name: str, direction: numpy.ndarray, step: float) -> float:
        """Slope of the loss along a direction."""
        value = node.get_param(name).copy()
        losses = []
        for sign in (1, -1):
            node.set_param(name, (value + sign * step * direction).astype("float32"))
            losses.append(self())
        node.set_param(name, value)
        return (losses[0] - losses[1]) / (2 * step)


def close(found: float, expected: float) -> bool:
    return abs(found - expected) <= 0.02 * abs(expected) + 0.02


def check(roll: Rollout, nodes: slice) -> None:
    rng = numpy.random.RandomState(0)
    gradients = roll.gradients()
    checked = 0
    for i, node in list(enumerate(roll.model.walk()))[nodes]:
        for name in node.param_names:
            if (i, name) not in gradients:
                continue
            gradient = gradients[i, name]
            assert numpy.isfinite(gradient).all()
            norm = float(numpy.linalg.norm(gradient))
            assert norm > 0, f"no gradient of {name}"
            directions = [gradient / norm]
            directions += [rng.normal(size=gradient.shape) * (rng.rand(*gradient.shape) < 0.2)]
            for place in rng.choice(gradient.size, min(6, gradient.size), replace=False):
                one = numpy.zeros(gradient.size)
                one[place] = 1
                directions.append(one.reshape(gradient.shape))
            wrong = []
            for direction in directions:
                direction = direction / max(1e-9, float(numpy.linalg.norm(direction)))
                expected = float((direction * gradient).sum())
                # A kink (another piece of maxout wins) within a step spoils it: try shorter ones.
                found: list[float] = []
                for step in (1e-3, 3e-3, 3e-4):
                    found.append(roll.difference(node, name, direction, step))
                    if close(found[-1], expected):
                        break
                else:
                    wrong.append((found, expected))
            assert not wrong, (name, wrong)
            checked += 1
    assert checked


@pytest.mark.parametrize(
    ("system", "pieces", "dropout"),
    [
        *(("monotonic", 1, 0.0), ("nonmonotonic", 2, 0.3), ("labelled", 1, 0.3), ("swap", 2, 0.3)),
        ("nl_covington", 2, 0.3),  # without dropout, test_arc_loss.py says more
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                *itertools.product(("nonmonotonic", "labelled"), (1, 2), (0.0,)),
                *(("monotonic", 2, 0.0), ("nl_covington", 1, 0.3)),
            )
        ),
    ],
)
def test_gradients_of_the_scorer(system: str, pieces: int, dropout: float) -> None:
    roll = Rollout(system, pieces, dropout)
    check(roll, slice(0, 1))
    if dropout:  # the same units each time, by the seed
        found = roll()
        roll.dropout = 0.0
        assert roll() != found


@pytest.mark.parametrize("weight", [0.4, pytest.param(1.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "system",
    ["labelled", "nl_covington", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)],
)
def test_gradients_with_a_teacher(system: str, weight: float) -> None:
    roll = Rollout(system, 2, 0.3)
    other = Rollout(system, 1, 0.0)
    randomize(other.model, 6, scale=0.4)
    without = roll()
    roll.parser._teachers = Teachers([other.model], other.parser.label_data["labels"], weight)
    assert abs(roll() - without) > 1
    check(roll, slice(0, 1))


@pytest.mark.parametrize(
    ("system", "dropout"), [("nl_covington", 0.0), ("nl_covington", 0.3), ("recurrent", 0.3)]
)
def test_gradients_of_recurrent_layers(system: str, dropout: float) -> None:
    roll = Rollout(system, 2, dropout)
    layers = recurrent_layers(roll.model)
    assert len(layers) == 2
    for number, node in enumerate(roll.model.walk()):
        if node in layers:
            check(roll, slice(number, number + 1))


@pytest.mark.parametrize("system", ["nonmonotonic", "nl_covington"])
def test_gradients_behind_the_scorer(system: str) -> None:
    """Through the token vectors, into the last layers of tok2vec."""
    check(Rollout(system, 2, 0.0), slice(1, None))
