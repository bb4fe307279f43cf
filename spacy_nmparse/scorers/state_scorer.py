"""The state scorer: a Thinc model that scores the moves of stack-based transition systems.

Token vectors are multiplied once into a row for each word and slot; the hidden layer of a
configuration is the sum of the rows of its words, plus embeddings of facts that only the
configuration knows, then maxout. See ``state_scorer_kernel`` for the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from spacy.tokens import Doc
from thinc.api import Model, get_array_module, to_numpy
from thinc.types import Floats2d

from spacy_nmparse.scorers.features import Features
from spacy_nmparse.scorers.state_scorer_kernel import StateScorerKernel, label_blocks
from spacy_nmparse.systems import TransitionSystem

DEFAULT_FEATURES = (
    "S0", "S1", "S2", "B0", "B1", "B2",
    "S0.h", "S0.l1", "S0.r1", "S1.l1", "S1.r1", "B0.l1", "S0.l2", "S0.r2",
    "S0*B0", "S1*B0", "S0*S1",
    "S0.label", "S1.label", "S0.l1.label", "S0.r1.label", "S1.r1.label", "B0.l1.label",
    "S0.n_left", "S0.n_right", "B0.n_left", "S0-B0.distance", "stack.depth",
)  # fmt: skip

WEIGHTS = ("pad_rows", "fact_rows", "bias", "move_W", "move_b", "label_W", "label_b")


@dataclass
class Scored:
    """What the scorer hands to search and learning: vectors and weights, on the CPU.

    vectors: float32 (words, width): one row for each parsed word of the batch, projected.
    word_W: float32 (slots * pieces * hidden, width): makes the word rows.
    kernel: the remaining weights, laid out for the loops.
    """

    vectors: numpy.ndarray
    word_W: numpy.ndarray
    kernel: StateScorerKernel
    n_slots: int
    row_size: int

    def word_rows(self, first: int, last: int, out: numpy.ndarray | None = None) -> numpy.ndarray:
        """Rows of the words first .. last - 1: float32 (last - first, slots, pieces * hidden), in
        ``out`` (at least as many rows, slots * pieces * hidden) where it is given."""
        if out is not None:
            out = out[: last - first]
        rows = numpy.matmul(self.vectors[first:last], self.word_W.T, out=out)
        return rows.reshape(last - first, self.n_slots, self.row_size)


@dataclass
class Gradients:
    """Gradients of a batch: of the word rows (same shape as ``Scored.word_rows(0, words)``), and of
    each of the weights by name."""

    word_rows: numpy.ndarray
    weights: dict[str, numpy.ndarray]


@dataclass
class ScorerInput:
    """Documents with the positions of the tokens that are parsed (spaces are not).

    rows: for each parsed word its row among all tokens of the documents; None: every token.
    """

    docs: list[Doc]
    rows: numpy.ndarray | None = None


def StateScorer(
    tok2vec: Model[list[Doc], list[Floats2d]],
    hidden_width: int = 64,
    maxout_pieces: int = 2,
    projection_width: int = 64,
    features: Sequence[str] | None = None,
) -> Model[ScorerInput, Scored]:
    """Build the state scorer.

    Args:
        tok2vec: any model from documents to token vectors.
        hidden_width: width of the hidden layer.
        maxout_pieces: its pieces; 1 makes it a ReLU layer.
        projection_width: token vectors are projected to this width first, the same for all slots:
            fewer weights, smaller products.
        features: feature names (see ``scorers.features``); None for the default ones.

    Raises:
        ValueError: an unknown feature, or sizes below 1.
    """
    if min(hidden_width, maxout_pieces, projection_width) < 1:
        raise ValueError(
            f"StateScorer: hidden_width {hidden_width}, maxout_pieces {maxout_pieces} and "
            f"projection_width {projection_width} must be at least 1."
        )
    names = DEFAULT_FEATURES if features is None else tuple(features)
    Features(names)  # raises on unknown names
    model: Model[ScorerInput, Scored] = Model(
        "state_scorer",
        forward,
        init=init,
        layers=[tok2vec],
        refs={"tok2vec": tok2vec},
        dims={"nI": None, "nV": projection_width, "nH": hidden_width, "nP": maxout_pieces},
        params=dict.fromkeys(("project_W", "project_b", "word_W", *WEIGHTS)),
        attrs={"features": list(names), "system": None, "dropout_rate": 0.0},
    )
    return model


def set_system(model: Model, system: TransitionSystem) -> None:
    """Tell the scorer which system's moves and labels it scores (before it is initialized)."""
    model.attrs["system"] = _SystemRef(system)


class _SystemRef:
    """Holds the system among the model's attributes without being serialized with them."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system


def shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """Shape of each parameter."""
    system = model.attrs["system"].system
    features = Features(model.attrs["features"])
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
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=None if X is None else X.docs)
    if model.attrs["system"] is None:
        raise ValueError("The state scorer needs set_system() before it can be initialized.")
    model.set_dim("nI", tok2vec.get_dim("nO"))
    for name, shape in shapes(model).items():
        array = model.ops.alloc(shape)
        n_slots = Features(model.attrs["features"]).n_slots
        if name == "project_W":
            array[:] = _uniform(model, shape, shape[0] + shape[1])
        elif name == "word_W":  # as if the slots were one concatenated input
            array[:] = _uniform(model, shape, n_slots * shape[1] + shape[0] / n_slots)
        model.set_param(name, array)


def _uniform(model: Model, shape: tuple[int, ...], fans: float) -> Any:
    """Glorot & Bengio 2010: uniform, scaled by the sum of fan-in and fan-out."""
    scale = (6.0 / fans) ** 0.5
    sample: Any = numpy.random.uniform(-scale, scale, shape).astype("float32")
    return model.ops.asarray(sample)


def forward(
    model: Model, X: ScorerInput, is_train: bool
) -> tuple[Scored, Callable[[Gradients], list[Doc]]]:
    """Score tables of a batch, and what back-propagates the gradients of a rollout over it."""
    tok2vec = model.get_ref("tok2vec")
    vectors, backprop_tok2vec = tok2vec(X.docs, is_train)
    lengths: Any = [v.shape[0] for v in vectors]
    flat: Any = model.ops.flatten(vectors)
    words = flat if X.rows is None else flat[X.rows]
    project_W: Any = model.get_param("project_W")
    projected = words @ project_W.T + model.get_param("project_b")
    params: Any = {name: to_numpy(model.get_param(name)) for name in (*WEIGHTS, "word_W")}
    features = Features(model.attrs["features"])
    kernel = StateScorerKernel(features, model.attrs["system"].system, params, model.get_dim("nP"))
    scored = Scored(
        to_numpy(projected), params["word_W"], kernel, features.n_slots, params["bias"].shape[0]
    )

    def backprop(d: Gradients) -> list[Doc]:
        d_rows: Any = d.word_rows.reshape(d.word_rows.shape[0], -1)
        xp = get_array_module(flat)
        if xp is not numpy:
            d_rows = xp.asarray(d_rows)
        d_projected = d_rows @ model.get_param("word_W")
        model.inc_grad("word_W", d_rows.T @ projected)
        model.inc_grad("project_W", d_projected.T @ words)
        model.inc_grad("project_b", d_projected.sum(axis=0))
        d_words = d_projected @ project_W
        for name in WEIGHTS:
            gradient: Any = d.weights[name]
            gradient = model.ops.asarray(gradient)
            model.inc_grad(name, gradient)
        if X.rows is None:
            d_flat = d_words
        else:
            d_flat = xp.zeros_like(flat)
            d_flat[X.rows] = d_words
        return backprop_tok2vec(model.ops.unflatten(d_flat, lengths))

    return scored, backprop


def check_weights(model: Model) -> None:
    """Raise ValueError where the parameters do not have the shapes that the system asks for."""
    for name, shape in shapes(model).items() if model.has_param("label_W") else ():
        found = tuple(model.get_param(name).shape)
        if found != shape:
            raise ValueError(f"weights {name} have the shape {found}, not {shape}")


def resize_labels(model: Model, system: TransitionSystem) -> None:
    """Make room for labels that were added behind the known ones; known ones keep their scores."""
    features = Features(model.attrs["features"])
    old: Any = {name: model.get_param(name) for name in ("fact_rows", "label_W", "label_b")}
    n_old = old["label_b"].shape[1]
    set_system(model, system)
    new: Any = {
        name: model.ops.alloc(shape) for name, shape in shapes(model).items() if name in old
    }
    new["label_W"][:, :n_old] = old["label_W"]
    new["label_b"][:, :n_old] = old["label_b"]
    start_old = start_new = 0
    old_sizes, new_sizes = (features.fact_sizes(n) for n in (n_old, len(system.label_names)))
    for old_size, new_size in zip(old_sizes, new_sizes, strict=True):
        new["fact_rows"][start_new : start_new + old_size] = old["fact_rows"][
            start_old : start_old + old_size
        ]
        start_old += old_size
        start_new += new_size
    # Under a new number: optimizers remember moments, of the old shapes, by the model's number.
    params = {name: model.get_param(name) for name in model.param_names}
    Model.global_id += 1
    model.id = Model.global_id
    for name, array in (params | new).items():
        model.set_param(name, array)
