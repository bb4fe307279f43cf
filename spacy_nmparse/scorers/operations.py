"""Changes that a component makes to its model, by the hooks of whichever scorer it has."""

from __future__ import annotations

from collections.abc import Sequence

from thinc.api import Model, set_dropout_rate

from spacy_nmparse.layers.parameters import renew
from spacy_nmparse.scorers import tags
from spacy_nmparse.scorers.hooks import hooks_of
from spacy_nmparse.scorers.shared import recurrent_layers, set_system
from spacy_nmparse.systems import TransitionSystem


def set_dropout(model: Model, rate: float) -> float:
    """Set the dropout of tok2vec to a rate, and that of the scorer's own layers to the rate times
    its ``dropout_factor``. Returns the latter, which is for the layers that search runs."""
    set_dropout_rate(model, rate)
    own = min(rate * model.attrs["dropout_factor"], 0.9)
    model.attrs["dropout_rate"] = own
    for layer in recurrent_layers(model):
        layer.attrs["dropout_rate"] = own
    return own


def choose_features(model: Model, system: TransitionSystem) -> None:
    """Give a scorer that was made without a list of features those that suit the system."""
    if model.attrs.get("default_features") and not hooks_of(model).is_initialized(model):
        model.attrs["features"] = hooks_of(model).system_features(system)


def learns_tags(model: Model) -> bool:
    """Whether the scorer has a layer that learns tags."""
    return model.maybe_get_ref("tagging") is not None


def set_tag_sizes(model: Model, sizes: Sequence[int]) -> None:
    """Tell a scorer that learns tags how many values each attribute has, before it is
    initialized."""
    for layer in _tagging_layers(model):
        tags.set_sizes(layer, sizes)


def renew_all(model: Model) -> None:
    """Give the scorer and its layers that learn tags new numbers (see
    ``layers.parameters.renew``)."""
    renew(model)
    for layer in _tagging_layers(model):
        renew(layer)


def _tagging_layers(model: Model) -> list[Model]:
    layers = [model.maybe_get_ref(name) for name in tags.REFERENCES]
    return [layer for layer in layers if layer is not None]


def resize_labels(model: Model, system: TransitionSystem) -> None:
    """Make room for labels that were added behind the known ones; known ones keep their scores."""
    set_system(model, system)
    hooks_of(model).resize(model, system)
