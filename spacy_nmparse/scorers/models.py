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
from spacy_nmparse.scorers import model as shared
from spacy_nmparse.scorers.model import ScorerInput, renew
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

#: Names of the layers of this package that a parser's model can have.
OWN_LAYERS = ("ensemble", *SCORERS, "nmparse_bilstm", "nmparse_tagging")

__all__ = [
    "ScorerInput",
    "check_system",
    "check_weights",
    "choose_features",
    "feature_names",
    "is_initialized",
    "layout",
    "members",
    "references",
    "renew_all",
    "resize_labels",
    "restore_references",
    "restore_system",
    "set_dropout",
    "set_system",
    "set_tag_sizes",
    "system_of",
]


def _module(model: Model) -> ModuleType:
    return SCORERS[model.name]


def members(model: Model) -> list[Model]:
    """The scorers that a parser's model is made of: those of an ensemble, or itself."""
    return list(model.layers) if model.name == "ensemble" else [model]


def set_system(model: Model, system: TransitionSystem) -> None:
    """Tell the scorers which system's moves and labels they score (before they are initialized)."""
    for one in (model, *members(model)):
        shared.set_system(one, system)


def system_of(model: Model) -> Any:
    """What ``set_system`` has set, to be given back to ``restore_system``."""
    return model.attrs["system"]


def restore_system(model: Model, system: Any) -> None:
    """Set what ``system_of`` gave."""
    for one in (model, *members(model)):
        one.attrs["system"] = system


def references(model: Model) -> list[dict[str, Model | None]]:
    """The references of each node, to be given back to ``restore_references``."""
    return [dict(node._refs) for node in model.walk()]


def restore_references(model: Model, found: Sequence[dict[str, Model | None]]) -> None:
    """Set what ``references`` gave: Thinc adds those that a damaged file names."""
    for node, refs in zip(model.walk(), found, strict=True):
        node._refs = dict(refs)


def layout(model: Model) -> list[tuple[str, list[str]]]:
    """What loading weights must leave as it is: of each node the names of its references, and its
    own, if it is a layer of this package."""
    return [
        (node.name if node.name in OWN_LAYERS else "", sorted(node.ref_names))
        for node in model.walk()
    ]


def is_initialized(model: Model) -> bool:
    """Whether the scorers have their parameters."""
    return all(one.has_param("label_W") is True for one in members(model))


def set_dropout(model: Model, rate: float) -> float:
    """Set the dropout of tok2vec to a rate, and that of the scorer's own layers to the rate times
    its ``dropout_factor``. Returns the latter, which is for the layers that search runs.

    Raises:
        ValueError: the model is an ensemble.
    """
    if model.name == "ensemble":
        raise ValueError("an ensemble does not learn; train its members by themselves")
    set_dropout_rate(model, rate)
    own = min(rate * model.attrs["dropout_factor"], 0.9)
    model.attrs["dropout_rate"] = own
    for lstm in context.lstms(model):
        lstm.attrs["dropout_rate"] = own
    return own


def feature_names(model: Model) -> Any:
    """The features that the scorer's parameters are made for; of an ensemble, those of each."""
    if model.name == "ensemble":
        return [feature_names(one) for one in members(model)]
    return model.attrs["features"]


def choose_features(model: Model, system: TransitionSystem) -> None:
    """Give state scorers that were made without a list of features those that suit the system."""
    for one in members(model):
        if one.attrs.get("default_features") and not is_initialized(one):
            one.attrs["features"] = state_scorer.system_features(system)


def check_system(model: Model, system: TransitionSystem) -> None:
    """Raise ValueError where a scorer cannot score the system."""
    for one in members(model):
        KERNELS[one.name].check_system(system)


def set_tag_sizes(model: Model, sizes: Sequence[int]) -> None:
    """Tell scorers that learn tags how many values each attribute has, before they are
    initialized."""
    for one in members(model):
        layer = one.maybe_get_ref("tagging")
        if layer is not None:
            tagging.set_sizes(layer, sizes)


def renew_all(model: Model) -> None:
    """Give scorers and layers that learn tags new numbers (see ``model.renew``)."""
    for one in members(model):
        renew(one)
        layer = one.maybe_get_ref("tagging")
        if layer is not None:
            renew(layer)


def check_weights(model: Model, tag_sizes: Sequence[int]) -> None:
    """Raise ValueError where a parameter of an initialized scorer or of a layer beneath it is
    missing, is not float32, or does not have the shape that the system, the layers' sizes and
    the sizes of the tags' attributes ask for: layers do not look when they run, and would read
    beyond the end."""
    for one in members(model):
        _check_weights(one, tag_sizes)


def _check_weights(model: Model, tag_sizes: Sequence[int]) -> None:
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
        if node in context.lstms(model):
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
    set_system(model, system)
    for one in members(model):
        _resize_labels(one, system)


def _resize_labels(model: Model, system: TransitionSystem) -> None:
    labels: Any = model.get_param("label_b")
    n_old = labels.shape[-1]
    params = {name: model.get_param(name) for name in model.param_names}
    params |= _module(model).resized(model, n_old, len(system.label_names))
    renew(model)
    for name, array in params.items():
        model.set_param(name, array)
