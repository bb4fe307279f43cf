"""The linear scorer: a Thinc model that scores moves by discrete features, as the papers' learners
do: words, tags, labels and counts of the configuration, joined by templates and hashed.

It has no tok2vec. It learns as an averaged perceptron or as a logistic regression; see
``perceptron``, ``logistic``, ``kernel`` and ``updates``.
"""

# No postponed annotations: spaCy validates configs by this architecture's signature.

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy
from spacy.attrs import NORM, POS, TAG
from spacy.tokens import Doc
from thinc.api import Model

from spacy_nmparse.lab.linear.kernel import LinearScorerKernel, focus, n_columns
from spacy_nmparse.lab.linear.logistic import Logistic
from spacy_nmparse.lab.linear.perceptron import Perceptron, perceptron_of
from spacy_nmparse.lab.linear.templates import Templates
from spacy_nmparse.lab.linear.updates import Lessons
from spacy_nmparse.lab.linear.zhang_nivre import SETS, TEMPLATES
from spacy_nmparse.layers.parameters import renew
from spacy_nmparse.scorers.features import compile_features
from spacy_nmparse.scorers.hooks import Hooks
from spacy_nmparse.scorers.shared import ScorerInput
from spacy_nmparse.scorers.state_scorer_kernel import check_system
from spacy_nmparse.systems import TransitionSystem

LEAST_BITS, MOST_BITS = 8, 30
LEARNERS = ("perceptron", "logistic")


def LinearScorer(
    bits: int = 25,
    features: Sequence[str] | None = None,
    learner: str = "perceptron",
    l1: float = 2e-5,
    min_count: int = 6,
) -> Model[ScorerInput, LinearScorerKernel]:
    """Build the linear scorer.

    Args:
        bits: features are hashed to 2 ** bits weights.
        features: templates of features (see ``lab.linear.templates``), and names of lists of them:
            "zhang_nivre", "additional" (see ``lab.linear.zhang_nivre``); None for those of Zhang &
            Nivre (2011), about the words that the system's arcs join.
        learner: "perceptron" or "logistic".
        l1: the penalty of a logistic regression for each configuration.
        min_count: it gives no weights to features that it has seen less often, of at most 255.

    Raises:
        ValueError: an unknown template or learner, bits below 8 or above 30, a penalty below 0, or
            another min_count than 1 to 255.
    """
    if not LEAST_BITS <= bits <= MOST_BITS:
        raise ValueError(f"LinearScorer: bits {bits} must be {LEAST_BITS} to {MOST_BITS}.")
    if learner not in LEARNERS:
        raise ValueError(f"LinearScorer: learner {learner!r} must be one of {LEARNERS}.")
    if l1 < 0 or not 1 <= min_count <= 255:
        raise ValueError(
            f"LinearScorer: l1 {l1} must be at least 0, and min_count {min_count} 1 to 255."
        )
    listed = ["zhang_nivre"] if features is None else features
    names = [one for name in listed for one in SETS.get(name, [name])]
    Templates(names)  # raises on unknown names
    return Model(
        "linear_scorer",
        forward,
        init=init,
        dims={"bits": bits},
        shims=[Logistic(l1, min_count) if learner == "logistic" else Perceptron()],
        attrs={
            "hooks": LinearScorerHooks(),
            "features": names,
            "default_features": features is None,
            "system": None,
            "dropout_rate": 0.0,
            "dropout_factor": 0.0,
        },
    )


def system_features(system: TransitionSystem) -> list[str]:
    """The default templates for a system: those for the pairs of words that its arcs join, and what
    its moves need besides (``Move.features``): word and tag of each word, labels, distances."""
    names = [name for pair in focus(system) for name in TEMPLATES[pair]]
    needed = [feature for move in system.table.values() for feature in move.features]
    words = compile_features(tuple(dict.fromkeys(["S0", *needed]))).words
    for feature in needed:
        if feature.endswith((".label", ".distance")):
            names.append(feature)
        elif feature in words:
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
) -> tuple[LinearScorerKernel, Callable[[Lessons], list[Doc]]]:
    """The scores of a batch, and what takes what a rollout over it has taught."""
    perceptron = perceptron_of(model)
    words, tags = read_words(ScorerInput.of(X))
    scored = LinearScorerKernel(
        compile_templates(tuple(model.attrs["features"])),
        model.attrs["system"].system,
        words,
        tags,
        perceptron.learning_weights() if is_train else perceptron.parsing_weights(),
        model.get_dim("bits"),
        isinstance(perceptron, Logistic),
    )

    def backprop(taught: Lessons) -> list[Doc]:
        perceptron.note(taught)
        return []

    return scored, backprop


def read_words(X: ScorerInput) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The norms of a batch's words, and their tags: uint64 (words,) both. The part of speech stands
    for a missing tag."""
    if not X.docs:
        return numpy.zeros(0, dtype="uint64"), numpy.zeros(0, dtype="uint64")
    rows = numpy.concatenate([doc.to_array([NORM, TAG, POS]) for doc in X.docs])
    if X.rows is not None:
        rows = rows[X.rows]
    tags = numpy.where(rows[:, 1] != 0, rows[:, 1], rows[:, 2])
    return numpy.ascontiguousarray(rows[:, 0]), numpy.ascontiguousarray(tags)


class LinearScorerHooks(Hooks):
    """See ``Hooks``. The weights are in a shim, and learn from mistakes or examples."""

    learns_by_gradients = False

    system_features = staticmethod(system_features)

    def check_system(self, system: TransitionSystem) -> None:
        """As ``Hooks.check_system``."""
        check_system(system, "linear")

    def is_initialized(self, model: Model) -> bool:
        """As ``Hooks.is_initialized``."""
        return perceptron_of(model).size > 0

    def looks_at_tags(self, model: Model) -> bool:
        """As ``Hooks.looks_at_tags``."""
        return any(".tag" in one for one in model.attrs["features"])

    def resize(self, model: Model, system: TransitionSystem) -> None:
        """As ``Hooks.resize``."""
        perceptron_of(model).resize(n_weights(model))

    def check_weights(self, model: Model) -> None:
        """As ``Hooks.check_weights``."""
        found, wanted = perceptron_of(model).size, n_weights(model)
        if found not in (0, wanted):
            raise ValueError(f"there are {found} weights, not {wanted}")
