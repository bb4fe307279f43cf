"""Functions of a scorer that a parser calls besides scoring.

A scorer's model holds its ``Hooks`` as ``model.attrs["hooks"]``; spaCy's own parser model holds its
``resize_output`` there. Code outside a scorer's file knows no scorer by name.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy
from thinc.api import Model, deserialize_attr

from spacy_nmparse.layers.parameters import renew
from spacy_nmparse.systems import TransitionSystem


class Hooks:
    """The hooks of a scorer whose parameters are learned by gradients. A scorer of this kind says
    what raises NotImplementedError here; others say the rest as well."""

    #: Whether gradients of a loss train it. Otherwise it learns from gold trees alone, without an
    #: optimizer, and its scores are not logarithms of probabilities.
    learns_by_gradients = True

    #: The least and greatest values of the model's attributes that are numbers, beside those of
    #: ``weights.RANGES``.
    ranges: ClassVar[dict[str, tuple[float, float]]] = {}

    def check_system(self, system: TransitionSystem) -> None:
        """Raise ValueError where the scorer cannot score the system."""
        raise NotImplementedError

    def system_features(self, system: TransitionSystem) -> Any:
        """The features for a system, if the model has the attribute ``default_features``."""
        raise NotImplementedError

    def shapes(self, model: Model) -> dict[str, tuple[int, ...]]:
        """The shape of each parameter, for the system that is set."""
        raise NotImplementedError

    def resized(self, model: Model, n_old: int, n_new: int) -> dict[str, Any]:
        """The parameters that depend on labels, with room for labels added behind the known ones;
        known ones keep their scores."""
        raise NotImplementedError

    def is_initialized(self, model: Model) -> bool:
        """Whether the scorer has its weights."""
        return all(model.has_param(name) is True for name in model.param_names)

    def looks_at_tags(self, model: Model) -> bool:
        """Whether the scorer knows words by the tags of their document."""
        return False

    def compared(self, table: numpy.ndarray) -> Any:
        """What compares readings, if the scorer can learn tags, as ``readings.Readings`` does.

        Args:
            table: the readings, as of ``tags.GoldTags``.
        """
        raise NotImplementedError

    def resize(self, model: Model, system: TransitionSystem) -> None:
        """Make room for labels added behind the known ones."""
        labels: Any = model.get_param("label_b")
        params = {name: model.get_param(name) for name in model.param_names}
        params |= self.resized(model, labels.shape[-1], len(system.label_names))
        renew(model)
        for name, array in params.items():
            model.set_param(name, array)

    def check_weights(self, model: Model) -> None:
        """Raise ValueError where the scorer has some weights, and they are not all there, float32
        and of their shapes."""
        if any(model.has_param(name) for name in model.param_names):
            for name, shape in self.shapes(model).items():
                check_parameter(model, name, shape)


@deserialize_attr.register(Hooks)
def _keep(_: Any, value: bytes, name: str, model: Model) -> Any:
    """Hooks are not saved, and no file replaces them."""
    return model.attrs[name]


def hooks_of(model: Model) -> Hooks:
    """The hooks of a scorer."""
    found: Hooks = model.attrs["hooks"]
    return found


def check_parameter(model: Model, name: str, shape: tuple[int, ...]) -> None:
    """Raise ValueError where a parameter is missing, or not float32 of this shape."""
    if not model.has_param(name):
        raise ValueError(f"weights {name} of the layer {model.name} are missing")
    found: Any = model.get_param(name)
    if tuple(found.shape) != shape:
        raise ValueError(f"weights {name} have the shape {tuple(found.shape)}, not {shape}")
    if found.dtype != "float32":
        raise ValueError(f"weights {name} are {found.dtype}, not float32")
