"""The linear scorer: a Thinc model that scores moves by discrete features, as the papers' learners
do: words, tags, labels and counts of the configuration, joined by templates and hashed.

It has no tok2vec. It learns as an averaged perceptron; see ``perceptron`` and
``linear_scorer_kernel``.
"""

# No postponed annotations: spaCy validates configs by this architecture's signature.

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy
from spacy.attrs import NORM, POS, TAG
from spacy.tokens import Doc
from thinc.api import Model

from spacy_nmparse.layers.parameters import renew
from spacy_nmparse.scorers.linear_scorer_kernel import (
    LinearScorerKernel,
    Mistakes,
    focus,
    n_columns,
)
from spacy_nmparse.scorers.perceptron import Perceptron, perceptron_of
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.scorers.templates import Templates
from spacy_nmparse.scorers.zhang_nivre import TEMPLATES
from spacy_nmparse.systems import TransitionSystem

LEAST_BITS, MOST_BITS = 8, 30


def LinearScorer(
    bits: int = 25, features: Sequence[str] | None = None
) -> Model[ScorerInput, LinearScorerKernel]:
    """Build the linear scorer.

    Args:
        bits: features are hashed to 2 ** bits weights.
        features: templates of features (see ``scorers.templates``); None for those of Zhang & Nivre
            (2011), about the words that the system's arcs join.

    Raises:
        ValueError: an unknown template, or bits below 8 or above 30.
    """
    if not LEAST_BITS <= bits <= MOST_BITS:
        raise ValueError(f"LinearScorer: bits {bits} must be {LEAST_BITS} to {MOST_BITS}.")
    names = TEMPLATES["S0-B0"] if features is None else features
    Templates(names)  # raises on unknown names
    return Model(
        "linear_scorer",
        forward,
        init=init,
        dims={"bits": bits},
        shims=[Perceptron()],
        attrs={
            "features": list(names),
            "default_features": features is None,
            "system": None,
            "dropout_rate": 0.0,
            "dropout_factor": 0.0,
        },
    )


def system_features(system: TransitionSystem) -> list[str]:
    """The default templates for a system: those for the pairs of words that its arcs join, and the
    word and tag of each word that its moves need besides (``Move.features``)."""
    names = [name for pair in focus(system) for name in TEMPLATES[pair]]
    for move in system.table.values():
        for feature in move.features:
            *_, last = feature.split(".")
            if last == "label":
                names.append(feature)
            elif "*" not in feature:
                names += [f"{feature}.word", f"{feature}.tag"]
    return list(dict.fromkeys(names))


@lru_cache(maxsize=64)
def compile_templates(names: tuple[str, ...]) -> Templates:
    """The templates of these names, compiled once."""
    return Templates(names)


def n_weights(model: Model) -> int:
    """How many weights the scorer has."""
    return (1 << model.get_dim("bits")) + n_columns(model.attrs["system"].system)


def init(model: Model, X: ScorerInput | None = None, Y: Any = None) -> None:
    """Begin with weights that are 0."""
    if model.attrs["system"] is None:
        raise ValueError("The linear scorer needs set_system() before it can be initialized.")
    renew(model)
    perceptron_of(model).reset(n_weights(model))


def forward(
    model: Model, X: ScorerInput | list[Doc], is_train: bool
) -> tuple[LinearScorerKernel, Callable[[Mistakes], list[Doc]]]:
    """The scores of a batch, and what takes the mistakes of a rollout over it."""
    if not isinstance(X, ScorerInput):
        X = ScorerInput(X)
    perceptron = perceptron_of(model)
    words, tags = read_words(X)
    scored = LinearScorerKernel(
        compile_templates(tuple(model.attrs["features"])),
        model.attrs["system"].system,
        words,
        tags,
        perceptron.learning_weights() if is_train else perceptron.parsing_weights(),
        model.get_dim("bits"),
    )

    def backprop(mistakes: Mistakes) -> list[Doc]:
        perceptron.note(mistakes)
        return []

    return scored, backprop


def read_words(X: ScorerInput) -> tuple[numpy.ndarray, numpy.ndarray]:
    """What the words of a batch are, and their tags: uint64 (words,) both. The part of speech
    stands for a tag that is not there."""
    if not X.docs:
        return numpy.zeros(0, dtype="uint64"), numpy.zeros(0, dtype="uint64")
    rows = numpy.concatenate([doc.to_array([NORM, TAG, POS]) for doc in X.docs])
    if X.rows is not None:
        rows = rows[X.rows]
    tags = numpy.where(rows[:, 1] != 0, rows[:, 1], rows[:, 2])
    return numpy.ascontiguousarray(rows[:, 0]), numpy.ascontiguousarray(tags)
