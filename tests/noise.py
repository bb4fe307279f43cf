"""Noise in the last bit of the weights that models begin with, as another processor might have it:
in pytest's own process, where NMPARSE_NOISE is a seed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy
from thinc.api import Model


def weights(model: Any) -> Iterator[tuple[Any, str, Any]]:
    """The layers of a model, the names of their weights, and these: float32."""
    for layer in model.walk():
        for name in layer.param_names:
            if layer.has_param(name) and layer.get_param(name).dtype == "float32":
                yield layer, name, layer.get_param(name)


def shaken(values: Any, rng: numpy.random.Generator) -> Any:
    """Each value moved to the next float32, up or down; zeros stay: they are no sums."""
    towards = rng.choice(numpy.asarray([-numpy.inf, numpy.inf], "float32"), values.shape)
    return numpy.where(values == 0, values, numpy.nextafter(values, towards))


def noisy(initialize: Callable[..., Any], seed: int) -> Callable[..., Any]:
    """``Model.initialize`` with noise in all weights that the outermost call has set. The same
    model gets the same noise each time, for tests compare models that begin alike."""
    running = threading.local()

    def initialize_with_noise(model: Model, *args: Any, **kwargs: Any) -> Model:
        if getattr(running, "outermost", None) is not None:
            return initialize(model, *args, **kwargs)
        before = {(layer.id, name): values.copy() for layer, name, values in weights(model)}
        running.outermost = model
        try:
            initialize(model, *args, **kwargs)
        finally:
            running.outermost = None
        rng = numpy.random.default_rng(seed)
        for layer, name, values in weights(model):
            new = shaken(values, rng)
            if not numpy.array_equal(before.get((layer.id, name), ()), values):
                layer.set_param(name, new)
        return model

    return initialize_with_noise
