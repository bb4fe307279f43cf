"""What a component does to its model, whichever scorer that is, or an ensemble of scorers."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from thinc.api import Model, set_dropout_rate

from spacy_nmparse.layers.parameters import renew
from spacy_nmparse.scorers import (
    arc_scorer,
    arc_scorer_kernel,
    linear_scorer,
    linear_scorer_kernel,
    shared,
    state_scorer,
    state_scorer_kernel,
    tagging,
)
from spacy_nmparse.scorers.perceptron import perceptron_of
from spacy_nmparse.scorers.words import recurrent_layers
from spacy_nmparse.systems import TransitionSystem

SCORERS: dict[str, ModuleType] = {
    "state_scorer": state_scorer,
    "arc_scorer": arc_scorer,
    "linear_scorer": linear_scorer,
}
KERNELS: dict[str, ModuleType] = {
    "state_scorer": state_scorer_kernel,
    "arc_scorer": arc_scorer_kernel,
    "linear_scorer": linear_scorer_kernel,
}


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


def is_initialized(model: Model) -> bool:
    """Whether the scorers have their weights."""
    return all(
        perceptron_of(one).size > 0 if learns_by_mistakes(one) else one.has_param("label_W") is True
        for one in members(model)
    )


def learns_by_mistakes(model: Model) -> bool:
    """Whether the model learns from mistakes or examples, without an optimizer."""
    return bool(model.shims)


def looks_at_tags(model: Model) -> bool:
    """Whether the scorer knows words by the tags of their document."""
    return model.name == "linear_scorer" and any(".tag" in one for one in model.attrs["features"])


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
    for layer in recurrent_layers(model):
        layer.attrs["dropout_rate"] = own
    return own


def feature_names(model: Model) -> Any:
    """The features that the scorer's parameters are made for; of an ensemble, those of each."""
    if model.name == "ensemble":
        return [feature_names(one) for one in members(model)]
    return model.attrs["features"]


def choose_features(model: Model, system: TransitionSystem) -> None:
    """Give scorers that were made without a list of features those that suit the system."""
    for one in members(model):
        if one.attrs.get("default_features") and not is_initialized(one):
            one.attrs["features"] = SCORERS[one.name].system_features(system)


def check_system(model: Model, system: TransitionSystem) -> None:
    """Raise ValueError where a scorer cannot score the system."""
    for one in members(model):
        KERNELS[one.name].check_system(system)


def learns_tags(model: Model) -> bool:
    """Whether all scorers have a layer that learns tags."""
    return all(one.maybe_get_ref("tagging") is not None for one in members(model))


def set_tag_sizes(model: Model, sizes: Sequence[int]) -> None:
    """Tell scorers that learn tags how many values each attribute has, before they are
    initialized."""
    for layer in _tagging_layers(model):
        tagging.set_sizes(layer, sizes)


def renew_all(model: Model) -> None:
    """Give scorers and layers that learn tags new numbers (see ``model.renew``)."""
    for one in members(model):
        renew(one)
    for layer in _tagging_layers(model):
        renew(layer)


def _tagging_layers(model: Model) -> list[Model]:
    layers = [one.maybe_get_ref(name) for one in members(model) for name in tagging.REFERENCES]
    return [layer for layer in layers if layer is not None]


def resize_labels(model: Model, system: TransitionSystem) -> None:
    """Make room for labels that were added behind the known ones; known ones keep their scores."""
    set_system(model, system)
    for one in members(model):
        _resize_labels(one, system)


def _resize_labels(model: Model, system: TransitionSystem) -> None:
    if learns_by_mistakes(model):
        perceptron_of(model).resize(linear_scorer.n_weights(model))
        return
    labels: Any = model.get_param("label_b")
    n_old = labels.shape[-1]
    params = {name: model.get_param(name) for name in model.param_names}
    params |= SCORERS[model.name].resized(model, n_old, len(system.label_names))
    renew(model)
    for name, array in params.items():
        model.set_param(name, array)
