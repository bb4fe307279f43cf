"""The scorers that a parser can have, by the name of their Thinc models."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from thinc.api import Model, set_dropout_rate

from spacy_nmparse.scorers import arc_scorer, state_scorer
from spacy_nmparse.scorers.model import ScorerInput, set_system
from spacy_nmparse.scorers.tagging import check_sizes, set_sizes
from spacy_nmparse.systems import TransitionSystem

SCORERS: dict[str, ModuleType] = {"state_scorer": state_scorer, "arc_scorer": arc_scorer}

__all__ = [
    "ScorerInput",
    "check_weights",
    "choose_features",
    "feature_names",
    "is_initialized",
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


def set_tag_sizes(model: Model, sizes: Sequence[int]) -> None:
    """Tell a scorer that learns tags how many values each attribute has, before it is
    initialized."""
    tagging = model.maybe_get_ref("tagging")
    if tagging is not None:
        set_sizes(tagging, sizes)


def check_weights(model: Model, tag_sizes: Sequence[int]) -> None:
    """Raise ValueError where the parameters do not have the shapes that the system, and tags of
    these sizes, ask for."""
    if not model.has_param("label_W"):
        return
    for name, shape in _module(model).shapes(model).items():
        found = tuple(model.get_param(name).shape)
        if found != shape:
            raise ValueError(f"weights {name} have the shape {found}, not {shape}")
    tagging = model.maybe_get_ref("tagging")
    if tagging is not None:
        check_sizes(tagging, tag_sizes)


def resize_labels(model: Model, system: TransitionSystem) -> None:
    """Make room for labels that were added behind the known ones; known ones keep their scores."""
    labels: Any = model.get_param("label_b")
    n_old = labels.shape[-1]
    set_system(model, system)
    params = {name: model.get_param(name) for name in model.param_names}
    params |= _module(model).resized(model, n_old, len(system.label_names))
    # Under a new number: optimizers remember moments, of the old shapes, by the model's number.
    Model.global_id += 1
    model.id = Model.global_id
    for name, array in params.items():
        model.set_param(name, array)
