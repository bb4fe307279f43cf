"""The scorers that a parser can have, by the name of their Thinc models."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from thinc.api import Model, set_dropout_rate

from spacy_nmparse.scorers import (
    arc_scorer,
    arc_scorer_kernel,
    context,
    state_scorer,
    state_scorer_kernel,
    tagging,
)
from spacy_nmparse.scorers.model import ScorerInput, renew, set_system
from spacy_nmparse.systems import TransitionSystem

SCORERS: dict[str, ModuleType] = {"state_scorer": state_scorer, "arc_scorer": arc_scorer}
KERNELS: dict[str, ModuleType] = {
    "state_scorer": state_scorer_kernel,
    "arc_scorer": arc_scorer_kernel,
}

#: Sizes of the parameters of Thinc's and spaCy's layers that a tok2vec is made of, by the names of
#: the parameters, and nP where a layer has pieces. Layers that are not here look for themselves.
LAYOUTS: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {
    ("E",): {"E": ("nV", "nO")},
    ("G", "b"): {"G": ("nO",), "b": ("nO",)},
    ("W", "b"): {"W": ("nO", "nI"), "b": ("nO",)},
    ("W", "b", "nP"): {"W": ("nO", "nP", "nI"), "b": ("nO", "nP")},
    ("W",): {"W": ("nO", "nM")},
}

__all__ = [
    "ScorerInput",
    "check_system",
    "check_weights",
    "choose_features",
    "feature_names",
    "is_initialized",
    "renew_all",
    "resize_labels",
    "set_dropout",
    "set_system",
    "set_tag_sizes",
]


def _module(model: Model) -> ModuleType:
    return SCORERS[model.name]


def is_initialized(model: Model) -> bool:
    """Whether the scorer has its parameters."""
    return model.has_param("label_W") is True


def set_dropout(model: Model, rate: float) -> float:
    """Set the dropout of tok2vec to a rate, and that of the scorer's own layers to the rate times
    its ``dropout_factor``. Returns the latter, which is for the layers that search runs."""
    set_dropout_rate(model, rate)
    own = min(rate * model.attrs["dropout_factor"], 0.9)
    model.attrs["dropout_rate"] = own
    lstm = model.maybe_get_ref("lstm")
    if lstm is not None:
        lstm.attrs["dropout_rate"] = own
    return own


def feature_names(model: Model) -> Any:
    """The features that the scorer's parameters are made for."""
    return model.attrs["features"]


def choose_features(model: Model, system: TransitionSystem) -> None:
    """Give a state scorer that was made without a list of features those that suit the system."""
    if model.attrs.get("default_features") and not is_initialized(model):
        model.attrs["features"] = state_scorer.system_features(system)


def check_system(model: Model, system: TransitionSystem) -> None:
    """Raise ValueError where the scorer cannot score the system."""
    KERNELS[model.name].check_system(system)


def set_tag_sizes(model: Model, sizes: Sequence[int]) -> None:
    """Tell a scorer that learns tags how many values each attribute has, before it is
    initialized."""
    layer = model.maybe_get_ref("tagging")
    if layer is not None:
        tagging.set_sizes(layer, sizes)


def renew_all(model: Model) -> None:
    """Give the scorer and the layer that learns tags new numbers (see ``model.renew``)."""
    renew(model)
    layer = model.maybe_get_ref("tagging")
    if layer is not None:
        renew(layer)


def check_weights(model: Model, tag_sizes: Sequence[int]) -> None:
    """Raise ValueError where a parameter of an initialized scorer or of a layer beneath it is
    missing, is not float32, or does not have the shape that the system, the layers' sizes and
    the sizes of the tags' attributes ask for: layers do not look when they run, and would read
    beyond the end."""
    if not any(model.has_param(name) for name in model.param_names):
        return
    for name, shape in _module(model).shapes(model).items():
        _check(model, name, shape)
    for node in model.walk():
        if node is model.maybe_get_ref("tagging"):
            for name, shape in tagging.shapes(node, tag_sizes).items():
                _check(node, name, shape)
            continue
        for name in node.param_names:
            if not node.has_param(name):
                raise ValueError(f"weights {name} of the layer {node.name} are missing")
        if node is model:
            continue
        if node is model.maybe_get_ref("lstm"):
            for name, shape in context.shapes(node).items():
                _check(node, name, shape)
            continue
        sizes = {dim: node.get_dim(dim) for dim in node.dim_names if node.has_dim(dim)}
        kind = (*node.param_names, *(["nP"] if "nP" in sizes else []))
        for name, dims in LAYOUTS.get(kind, {}).items():
            if all(dim in sizes for dim in dims):
                _check(node, name, tuple(sizes[dim] for dim in dims))


def _check(node: Model, name: str, shape: tuple[int, ...]) -> None:
    if not node.has_param(name):
        raise ValueError(f"weights {name} of the layer {node.name} are missing")
    found: Any = node.get_param(name)
    if tuple(found.shape) != shape:
        raise ValueError(f"weights {name} have the shape {tuple(found.shape)}, not {shape}")
    if found.dtype != "float32":
        raise ValueError(f"weights {name} are {found.dtype}, not float32")


def resize_labels(model: Model, system: TransitionSystem) -> None:
    """Make room for labels that were added behind the known ones; known ones keep their scores."""
    labels: Any = model.get_param("label_b")
    n_old = labels.shape[-1]
    set_system(model, system)
    params = {name: model.get_param(name) for name in model.param_names}
    params |= _module(model).resized(model, n_old, len(system.label_names))
    renew(model)
    for name, array in params.items():
        model.set_param(name, array)
