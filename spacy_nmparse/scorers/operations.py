"""What a component does to its model, whichever scorer that is, or an ensemble of scorers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thinc.api import Model, set_dropout_rate

from spacy_nmparse.layers.parameters import renew
from spacy_nmparse.scorers import shared, tagging
from spacy_nmparse.scorers.hooks import hooks_of, members
from spacy_nmparse.scorers.words import recurrent_layers
from spacy_nmparse.systems import TransitionSystem


def set_system(model: Model, system: TransitionSystem) -> None:
    """Tell the scorers which system's moves and labels they score (before they are initialized)."""
    for one in (model, *members(model)):
        shared.set_system(one, system)


def is_ensemble(model: Model) -> bool:
    """Whether the model is several scorers that decide together."""
    return members(model) != [model]


def is_initialized(model: Model) -> bool:
    """Whether the scorers have their weights."""
    return all(hooks_of(one).is_initialized(one) for one in members(model))


def learns_by_gradients(model: Model) -> bool:
    """Whether gradients of a loss train the scorers."""
    return all(hooks_of(one).learns_by_gradients for one in members(model))


def looks_at_tags(model: Model) -> bool:
    """Whether a scorer knows words by the tags of their document."""
    return any(hooks_of(one).looks_at_tags(one) for one in members(model))


def set_dropout(model: Model, rate: float) -> float:
    """Set the dropout of tok2vec to a rate, and that of the scorer's own layers to the rate times
    its ``dropout_factor``. Returns the latter, which is for the layers that search runs.

    Raises:
        ValueError: the model is an ensemble.
    """
    if is_ensemble(model):
        raise ValueError("an ensemble does not learn; train its members by themselves")
    set_dropout_rate(model, rate)
    own = min(rate * model.attrs["dropout_factor"], 0.9)
    model.attrs["dropout_rate"] = own
    for layer in recurrent_layers(model):
        layer.attrs["dropout_rate"] = own
    return own


def feature_names(model: Model) -> Any:
    """The features that the scorer's parameters are made for; of an ensemble, those of each."""
    if is_ensemble(model):
        return [feature_names(one) for one in members(model)]
    return model.attrs["features"]


def choose_features(model: Model, system: TransitionSystem) -> None:
    """Give scorers that were made without a list of features those that suit the system."""
    for one in members(model):
        if one.attrs.get("default_features") and not is_initialized(one):
            one.attrs["features"] = hooks_of(one).system_features(system)


def check_system(model: Model, system: TransitionSystem) -> None:
    """Raise ValueError where a scorer cannot score the system."""
    for one in members(model):
        hooks_of(one).check_system(system)


def learns_tags(model: Model) -> bool:
    """Whether all scorers have a layer that learns tags."""
    return all(one.maybe_get_ref("tagging") is not None for one in members(model))


def set_tag_sizes(model: Model, sizes: Sequence[int]) -> None:
    """Tell scorers that learn tags how many values each attribute has, before they are
    initialized."""
    for layer in _tagging_layers(model):
        tagging.set_sizes(layer, sizes)


def renew_all(model: Model) -> None:
    """Give scorers and layers that learn tags new numbers (see ``layers.parameters.renew``)."""
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
        hooks_of(one).resize(one, system)
