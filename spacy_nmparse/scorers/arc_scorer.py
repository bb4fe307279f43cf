"""The arc scorer: a Thinc model that scores the moves of systems with non-local arcs.

Every word gets a vector as head and one as dependent; an arc's score is biaffine in them, plus what
the configuration adds. See ``arc_scorer_kernel`` for the formulas and the loops.
"""

# No postponed annotations: spaCy validates configs by this architecture's signature.

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from spacy.tokens import Doc
from thinc.api import Model, to_numpy
from thinc.types import Floats2d

from spacy_nmparse.layers.parameters import check_least, renew, spread, uniform
from spacy_nmparse.scorers.arc_scorer_kernel import MOST_PAIRS, ArcScorerKernel, check_system
from spacy_nmparse.scorers.features import Features, compile_features
from spacy_nmparse.scorers.hooks import Hooks
from spacy_nmparse.scorers.readings import Readings
from spacy_nmparse.scorers.shared import Gradients, ScorerInput
from spacy_nmparse.scorers.tree import TREE_WEIGHTS, init_tree, run_tree, tree_shapes
from spacy_nmparse.scorers.words import build_words, init_words, project, run_words
from spacy_nmparse.systems import TransitionSystem

# Of a configuration; of an item H and the focus word D; of an arc from H to D.
FEATURES = {
    "context": (
        "B0", "B1", "B2", "I1", "I2", "B0.h", "B0.l1", "I1.h", "I1.r1", "B0*I1", "B0*B1",
        "B0.label", "B0.n_left", "B0.l1.label", "I1.label", "I1.n_left", "I1.n_right",
        "I1.r1.label", "I1-B0.distance", "items.headless", "root.child",
    ),
    "pair": (
        "H", "H.h", "H.l1", "H.r1", "H*D",
        "H.label", "H.n_left", "H.n_right", "H.l1.label", "H.r1.label", "H-D.distance",
    ),
    "label": (
        "H", "H.l1", "D", "D.l1", "D.r1", "H*D",
        "D.n_left", "D.n_right", "D.l1.label", "D.r1.label", "H.label", "H.l1.label",
        "H.r1.label", "H.n_left", "H.n_right", "H-D.distance",
    ),
}  # fmt: skip
LAYERS = tuple(FEATURES)
WEIGHTS = (
    *("output_W", "output_b", "pair_W", *TREE_WEIGHTS, "label_W", "label_b"),
    *(f"{layer}_{name}" for layer in LAYERS for name in ("pad_rows", "fact_rows", "bias")),
)


def ArcScorer(
    tok2vec: Model[list[Doc], list[Floats2d]],
    arc_width: int = 64,
    hidden_width: int = 128,
    context_width: int = 128,
    maxout_pieces: int = 1,
    projection_width: int = 64,
    recurrent_width: int = 64,
    recurrent_depth: int = 2,
    tree_weight: float = 0.3,
    tag_weight: float = 1.0,
    n_pairs: int = 8,
    dropout_factor: float = 2.0,
    features: Mapping[str, Sequence[str]] | None = None,
) -> Model[ScorerInput, ArcScorerKernel]:
    """Build the arc scorer.

    Args:
        tok2vec: any model from documents to token vectors.
        arc_width: width of a word's vectors as head and as dependent.
        hidden_width: width of the hidden layers of pairs and of labels.
        context_width: width of the hidden layer of configurations.
        maxout_pieces: their pieces; 1 makes them ReLU layers.
        projection_width: token vectors are projected to this width for the hidden layers.
        recurrent_width: units in each direction of a recurrent layer (BiSRU) over the token
            vectors, whose output goes with them; 0 for none.
        recurrent_depth: how many such layers, each over the token vectors and what those below it
            say.
        tree_weight: weight of the loss of P(head | word); that of the moves has weight 1.
        tag_weight: weight of the loss of each of a word's tags (see ``scorers.tagging``); 0: they
            are not learned.
        n_pairs: in parsing, how many arcs of a configuration, the likeliest by the biaffine part,
            are looked at there; others are scored by that part alone. At most 64; 0: all.
        dropout_factor: the scorer's own layers drop units at this multiple of the rate that
            training asks for.
        features: feature names (see ``scorers.features``) of the layers "context", "pair" and
            "label"; for those that are missing, the default ones.

    Raises:
        ValueError: an unknown feature or layer, sizes below 1, a weight or factor below 0, or
            n_pairs below 0 or above 64.
    """
    sizes = {"hidden_width": hidden_width, "context_width": context_width, "arc_width": arc_width}
    sizes |= {"maxout_pieces": maxout_pieces, "projection_width": projection_width}
    check_least("ArcScorer", 1, **sizes)
    check_least("ArcScorer", 0, tree_weight=tree_weight, dropout_factor=dropout_factor)
    if not 0 <= n_pairs <= MOST_PAIRS:
        raise ValueError(f"ArcScorer: n_pairs {n_pairs} must be between 0 and {MOST_PAIRS}.")
    model: Model[ScorerInput, ArcScorerKernel] = Model(
        "arc_scorer",
        forward,
        init=init,
        **build_words("ArcScorer", tok2vec, recurrent_width, recurrent_depth, tag_weight),
        dims={
            "nI": None,
            "nA": arc_width,
            "nV": projection_width,
            "nH": hidden_width,
            "nC": context_width,
            "nP": maxout_pieces,
        },
        params=dict.fromkeys(("project_W", "project_b", "word_W", "arc_W", "arc_b", *WEIGHTS)),
        attrs={
            "hooks": ArcScorerHooks(),
            "features": feature_names(features or {}),
            "system": None,
            "dropout_rate": 0.0,
            "tree_weight": tree_weight,
            "tag_weight": tag_weight,
            "n_pairs": n_pairs,
            "dropout_factor": dropout_factor,
        },
    )
    return model


def feature_names(chosen: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The features of each layer: the chosen ones, or the default ones. Raises ValueError for an
    unknown layer or feature, and for facts of tokens."""
    unknown = set(chosen) - set(FEATURES)
    if unknown:
        raise ValueError(f"ArcScorer: features are those of {LAYERS}, not of {sorted(unknown)}.")
    names = {layer: list(chosen.get(layer, FEATURES[layer])) for layer in LAYERS}
    for layer in LAYERS:
        if Features(names[layer]).token_facts:
            raise ValueError(f"ArcScorer: no facts of tokens, as in {layer} {names[layer]}.")
    return names


def shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """Shape of each parameter."""
    system: TransitionSystem = model.attrs["system"].system
    features = compiled(model)
    n_labels = len(system.label_names)
    width, n_vector = model.get_dim("nH"), model.get_dim("nV")
    sizes = row_sizes(model)
    n_outputs = len(system.moves) + sizes["pair"] + sizes["label"]  # of the latter two, one row
    result: dict[str, tuple[int, ...]] = {
        "project_W": (n_vector, model.get_dim("nI")),
        "project_b": (n_vector,),
        "word_W": (sum(f.n_slots * sizes[layer] for layer, f in features.items()), n_vector),
        **tree_shapes(model, n_alpha=2),
        "output_W": (n_outputs, model.get_dim("nC")),
        "output_b": (n_outputs,),
        "pair_W": (2, width),
        "label_W": (n_labels, width),
        "label_b": (n_labels,),
    }
    for layer, layer_features in features.items():
        size = sizes[layer]
        result[f"{layer}_pad_rows"] = (layer_features.n_slots, 2, size)
        result[f"{layer}_fact_rows"] = (sum(layer_features.fact_sizes(n_labels)), size)
        result[f"{layer}_bias"] = (size,)
    return result


def row_sizes(model: Model) -> dict[str, int]:
    """Size of what a word, or a fact, adds to each layer."""
    pieces = model.get_dim("nP")
    return {layer: pieces * model.get_dim("nC" if layer == "context" else "nH") for layer in LAYERS}


def compiled(model: Model) -> dict[str, Features]:
    """The features of each layer."""
    return {layer: compile_features(tuple(n)) for layer, n in model.attrs["features"].items()}


def init(model: Model, X: ScorerInput | None = None, Y: Any = None) -> None:
    """Initialize tok2vec, then the parameters that are not set yet."""
    if model.attrs["system"] is None:
        raise ValueError("The arc scorer needs set_system() before it can be initialized.")
    renew(model)
    model.set_dim("nI", init_words(model, X))
    for name, shape in shapes(model).items():
        array = model.ops.alloc(shape)
        init_tree(model, name, array)
        if name == "project_W":
            array[:] = uniform(model, shape, shape[0] + shape[1])
        elif name == "word_W":  # as if the slots of each layer were one concatenated input
            first = 0
            for layer, features in compiled(model).items():
                size = row_sizes(model)[layer]
                part = array[first : first + features.n_slots * size]
                part[:] = uniform(model, part.shape, features.n_slots * shape[1] + size)
                first += features.n_slots * size
        elif name == "output_W":
            n_moves = len(model.attrs["system"].system.moves)
            array[n_moves:] = uniform(model, (shape[0] - n_moves, shape[1]), shape[0] + shape[1])
        model.set_param(name, array)


def forward(
    model: Model, X: ScorerInput | list[Doc], is_train: bool
) -> tuple[ArcScorerKernel, Callable[[Gradients], list[Doc]]]:
    """Score tables of a batch, and what back-propagates the gradients of a rollout over it."""
    X = ScorerInput.of(X)
    words, (projected, items), lengths, tag_scores, backprop_words = run_words(
        model, X, is_train, ["project_W", "arc_W"]
    )
    projected, backprop_projected = project(model, words, projected)
    tree, backprop_tree = run_tree(model, words, items, lengths, is_train)
    params: Any = {name: to_numpy(model.get_param(name)) for name in (*WEIGHTS, "word_W")}
    scored = ArcScorerKernel(
        compiled(model),
        model.attrs["system"].system,
        projected,
        tree,
        params,
        model.get_dim("nP"),
        model.attrs["n_pairs"],
    )
    scored.tag_scores = tag_scores

    def backprop(d: Gradients) -> list[Doc]:
        return backprop_words(backprop_projected(d) + backprop_tree(d.items))

    return scored, backprop


def resized(model: Model, n_old: int, n_new: int) -> dict[str, Any]:
    """The parameters that depend on labels, with room for labels added behind the known ones; known
    ones keep their scores."""
    new = {}
    for name in ("label_W", "label_b"):
        new[name] = spread(model, model.get_param(name), [n_old], [n_new])
    for layer, features in compiled(model).items():
        sizes = (features.fact_sizes(n_old), features.fact_sizes(n_new))
        name = f"{layer}_fact_rows"
        new[name] = spread(model, model.get_param(name), *sizes)
    return new


class ArcScorerHooks(Hooks):
    """See ``Hooks``."""

    ranges: ClassVar[dict[str, tuple[float, float]]] = {"n_pairs": (0, MOST_PAIRS)}

    check_system = staticmethod(check_system)
    shapes = staticmethod(shapes)
    resized = staticmethod(resized)
    compared = Readings
