"""Adam in one pass, against Thinc's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from thinc.api import Config, registry

from spacy_nmparse.layers.adam import Adam
from spacy_nmparse.layers.cpu import CLASS

SHAPES: tuple[tuple[int, ...], ...] = ((3, 5, 7), (40,), (1, 1))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"L2": 0.0, "grad_clip": 0.0, "use_averages": False},
        {"L2_is_weight_decay": False, "L2": 0.1},
        {"learn_rate": [0.1, 0.01, 0.0]},
        {"beta2": 0.0, "beta1": 0.0},
    ],
)
def test_thinc_weights(settings: dict[str, Any]) -> None:
    """Weights, moments and averages over updates, whether the gradient is clipped or not."""
    found = []
    for name in ("Adam.v1", "spacy_nmparse.Adam.v1"):
        block = {"@optimizers": name, "learn_rate": 0.02, **settings}
        optimizer: Any = registry.resolve(Config({"optimizer": block}))["optimizer"]
        assert isinstance(optimizer, Adam) == (name != "Adam.v1")
        random = numpy.random.RandomState(0)
        weights = [random.normal(size=shape).astype("float32") for shape in SHAPES]
        for step in range(20):
            for key, shape in enumerate(SHAPES):
                gradient = random.normal(size=shape) * 10.0 ** (step % 4 - 2)
                arguments = (key, "W"), weights[key], gradient.astype("float32")
                weights[key], left = optimizer(*arguments, lr_scale=0.5)
                assert not left.any()
            optimizer.step_schedules()
        parts = (optimizer.mom1, optimizer.mom2, optimizer.averages or {})
        found.append(weights + [part[key] for part in parts for key in sorted(part)])
    for theirs, ours in zip(*found, strict=True):
        if CLASS == "neon":  # compilers fuse multiply and add
            numpy.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
        else:
            numpy.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("plain", [True, False], ids=["ours", "thinc"])
def test_rate_of_pytorch_s_parameters(plain: bool) -> None:
    """Their names are paths: they have a share of the learn rate, and no averages."""
    found = {}
    for name, rate in (("layer.weight", 0.1), ("weight", 0.01)):
        optimizer = Adam(rate, pretrained_factor=0.1, L2=0.5)
        weights, gradient = (numpy.arange(8, dtype="float32") for _ in range(2))
        if not plain:
            weights, gradient = weights[::2], gradient[::2]
        found[name] = optimizer((1, name), weights, gradient)[0]
        assert ((1, name) in optimizer.averages) == (name == "weight")
    numpy.testing.assert_allclose(*found.values(), rtol=1e-6)
