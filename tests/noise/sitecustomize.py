"""Noise in the last bit of the weights that models begin with, as another processor might have it,
in each Python process that has this folder in PYTHONPATH and a seed in NMPARSE_NOISE: Python
imports a module of this name when it starts. ``tests.robust`` uses it.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

MODULE = "thinc.model"


def weights(model: Any) -> Iterator[tuple[Any, str, Any]]:
    """The layers of a model, the names of their weights, and these: float32."""
    for layer in model.walk():
        for name in layer.param_names:
            if layer.has_param(name) and layer.get_param(name).dtype == "float32":
                yield layer, name, layer.get_param(name)


def shaken(values: Any, rng: Any) -> Any:
    """Each value moved to the next float32, up or down; zeros stay: they are no sums."""
    import numpy

    towards = rng.choice(numpy.asarray([-numpy.inf, numpy.inf], "float32"), values.shape)
    return numpy.where(values == 0, values, numpy.nextafter(values, towards))


def noisy(initialize: Any, seed: int) -> Any:
    """``Model.initialize`` with noise in all weights that the outermost call has set. The same
    model gets the same noise each time, for tests compare models that begin alike."""
    import numpy

    running = threading.local()

    def initialize_with_noise(model: Any, *args: Any, **kwargs: Any) -> Any:
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


class Finder(importlib.abc.MetaPathFinder):
    """Puts noise into Thinc when something imports it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.loader is not None
        execute = spec.loader.exec_module

        def execute_with_noise(module: Any) -> None:
            execute(module)
            seed = int(os.environ["NMPARSE_NOISE"])
            module.Model.initialize = noisy(module.Model.initialize, seed)

        spec.loader.exec_module = execute_with_noise  # type: ignore[method-assign]
        return spec


if os.environ.get("NMPARSE_NOISE"):
    sys.meta_path.insert(0, Finder())
