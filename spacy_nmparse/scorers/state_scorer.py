"""The state scorer: a Thinc model that scores the moves of stack-based transition systems.

Token vectors are multiplied once into a row for each word and slot; the hidden layer of a
configuration is the sum of the rows of its words, plus embeddings of facts that only the
configuration knows, then maxout. See ``state_scorer_kernel`` for the loops.
"""

# No postponed annotations: spaCy validates configs by this architecture's signature.

from collections.abc import Callable, Sequence
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model, to_numpy
from thinc.types import Floats2d

from spacy_nmparse.layers.parameters import check_least, renew, spread, uniform
from spacy_nmparse.scorers.features import Features, compile_features
from spacy_nmparse.scorers.hooks import Hooks
from spacy_nmparse.scorers.readings import Readings
from spacy_nmparse.scorers.shared import Gradients, ScorerInput
from spacy_nmparse.scorers.state_scorer_kernel import (
    StateScorerKernel,
    check_system,
    label_blocks,
)
from spacy_nmparse.scorers.token_facts import token_values
from spacy_nmparse.scorers.words import build_words, init_words, project, run_words
from spacy_nmparse.systems import TransitionSystem

DEFAULT_FEATURES = (
    "S0", "S1", "B0", "B1", "S0.h", "S0.l1", "S0.r1", "S1.l1", "S1.r1", "B0.l1",
    "S0*B0", "S1*B0", "S0*S1",
    "S0.label", "S1.label", "S0.l1.label", "S0.r1.label", "S1.r1.label", "B0.l1.label",
    "S0.n_left", "S0.n_right", "B0.n_left", "S0-B0.distance", "stack.depth",
)  # fmt: skip

WEIGHTS = ("pad_rows", "fact_rows", "bias", "move_W", "move_b", "label_W", "label_b")


def StateScorer(
    tok2vec: Model[list[Doc], list[Floats2d]],
    hidden_width: int = 64,
    maxout_pieces: int = 2,
    projection_width: int = 64,
    recurrent_width: int = 64,
    recurrent_depth: int = 2,
    tag_weight: float = 1.0,
    dropout_factor: float = 1.0,
    features: Sequence[str] | None = None,
) -> Model[ScorerInput, StateScorerKernel]:
    """Build the state scorer.

    Args:
        tok2vec: any model from documents to token vectors.
        hidden_width: width of the hidden layer.
        maxout_pieces: its pieces; 1 makes it a ReLU layer.
        projection_width: token vectors are projected to this width first, the same for all slots:
            fewer weights, smaller products.
        recurrent_width: units in each direction of a recurrent layer (BiSRU) over the token
            vectors, whose output goes with them; 0 for none.
        recurrent_depth: how many such layers, each over the token vectors and what those below it
            say.
        tag_weight: weight of the loss of each of a word's tags (see ``scorers.tagging``); 0: they
            are not learned.
        dropout_factor: the scorer's own layers drop units at this multiple of the rate that
            training asks for.
        features: feature names (see ``scorers.features``); None for the default ones, and those
            that the system's moves need besides (``Move.features``).

    Raises:
        ValueError: an unknown feature, sizes below 1, or a weight or factor below 0.
    """
    sizes = {"hidden_width": hidden_width, "maxout_pieces": maxout_pieces}
    check_least("StateScorer", 1, **sizes, projection_width=projection_width)
    check_least("StateScorer", 0, dropout_factor=dropout_factor)
    names = list(DEFAULT_FEATURES if features is None else features)
    Features(names)  # raises on unknown names
    return Model(
        "state_scorer",
        forward,
        init=init,
        **build_words("StateScorer", tok2vec, recurrent_width, recurrent_depth, tag_weight),
        dims={
            "nI": None,
            "nV": projection_width,
            "nH": hidden_width,
            "nP": maxout_pieces,
        },
        params=dict.fromkeys(("project_W", "project_b", "word_W", *WEIGHTS)),
        attrs={
            "hooks": StateScorerHooks(),
            "features": names,
            "default_features": features is None,
            "system": None,
            "dropout_rate": 0.0,
            "tag_weight": tag_weight,
            "dropout_factor": dropout_factor,
        },
    )


def system_features(system: TransitionSystem) -> list[str]:
    """The default features for a system."""
    names = list(DEFAULT_FEATURES)
    for move in system.table.values():
        names += move.features
    return names


def shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """Shape of each parameter."""
    system = model.attrs["system"].system
    features = compile_features(tuple(model.attrs["features"]))
    n_slots = features.n_slots
    width, n_labels = model.get_dim("nH"), len(system.label_names)
    size = width * model.get_dim("nP")
    n_blocks = max(label_blocks(system)) + 1
    return {
        "project_W": (model.get_dim("nV"), model.get_dim("nI")),
        "project_b": (model.get_dim("nV"),),
        "word_W": (n_slots * size, model.get_dim("nV")),
        "pad_rows": (n_slots, 2, size),
        "fact_rows": (sum(features.fact_sizes(n_labels)), size),
        "bias": (size,),
        "move_W": (len(system.moves), width),
        "move_b": (len(system.moves),),
        "label_W": (n_blocks, n_labels, width),
        "label_b": (n_blocks, n_labels),
    }


def init(model: Model, X: ScorerInput | None = None, Y: Any = None) -> None:
    """Initialize tok2vec, then the parameters that are not set yet."""
    if model.attrs["system"] is None:
        raise ValueError("The state scorer needs set_system() before it can be initialized.")
    renew(model)
    model.set_dim("nI", init_words(model, X))
    for name, shape in shapes(model).items():
        array = model.ops.alloc(shape)
        n_slots = compile_features(tuple(model.attrs["features"])).n_slots
        if name == "project_W":
            array[:] = uniform(model, shape, shape[0] + shape[1])
        elif name == "word_W":  # as if the slots were one concatenated input
            array[:] = uniform(model, shape, n_slots * shape[1] + shape[0] / n_slots)
        model.set_param(name, array)


def forward(
    model: Model, X: ScorerInput | list[Doc], is_train: bool
) -> tuple[StateScorerKernel, Callable[[Gradients], list[Doc]]]:
    """Score tables of a batch, and what back-propagates the gradients of a rollout over it."""
    X = ScorerInput.of(X)
    words, products, _, tag_scores, backprop_words = run_words(model, X, is_train, ["project_W"])
    projected, backprop_projected = project(model, words, *products)
    params: Any = {name: to_numpy(model.get_param(name)) for name in (*WEIGHTS, "word_W")}
    features = compile_features(tuple(model.attrs["features"]))
    scored = StateScorerKernel(
        features,
        model.attrs["system"].system,
        projected,
        params,
        model.get_dim("nP"),
        token_values(features.token_facts, X),
    )
    scored.tag_scores = tag_scores

    def backprop(d: Gradients) -> list[Doc]:
        return backprop_words(backprop_projected(d))

    return scored, backprop


def resized(model: Model, n_old: int, n_new: int) -> dict[str, Any]:
    """The parameters that depend on labels, with room for labels added behind the known ones; known
    ones keep their scores."""
    features = compile_features(tuple(model.attrs["features"]))
    fact_sizes = (features.fact_sizes(n_old), features.fact_sizes(n_new))
    new = {name: model.ops.alloc(shapes(model)[name]) for name in ("label_W", "label_b")}
    for name, array in new.items():
        array[:, :n_old] = model.get_param(name)
    return {**new, "fact_rows": spread(model, model.get_param("fact_rows"), *fact_sizes)}


class StateScorerHooks(Hooks):
    """See ``Hooks``."""

    check_system = staticmethod(check_system)
    system_features = staticmethod(system_features)
    shapes = staticmethod(shapes)

    def looks_at_tags(self, model: Model) -> bool:
        """As ``Hooks.looks_at_tags``."""
        facts = compile_features(tuple(model.attrs["features"])).token_facts
        return any(fact.looks_at_tags for fact in facts.values())

    resized = staticmethod(resized)
    compared = Readings
