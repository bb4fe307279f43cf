"""Making parameters: their first values, more rows, and a new number for their model; checks of
sizes and values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
from thinc.api import Model, get_array_module

#: The shape of each parameter of layers of this package, by the layers' names. A layer whose module
#: puts it here is looked at when weights are loaded.
SHAPES: dict[str, Callable[[Model], dict[str, tuple[int, ...]]]] = {}


def renew(model: Model) -> None:
    """Give a model a new number, before its parameters get other shapes: gradients that are not
    applied yet, and optimizers' moments, are remembered by it, in the old shapes."""
    model.id = Model(model.name, not_run).id  # numbers are given to new models


def not_run(model: Model, X: Any, is_train: bool) -> Any:
    """The forward pass of a model that is made for its number."""
    raise NotImplementedError


def check_least(layer: str, least: float, **values: float) -> None:
    """Raise ValueError, with the name of the layer and all the values, where one is below ``least``
    or no number."""
    if not all(value >= least for value in values.values()):
        listed = ", ".join(f"{name} {value}" for name, value in values.items())
        raise ValueError(f"{layer}: {listed} must be at least {least}.")


def is_finite(array: Any) -> bool:
    """Whether all of its values are numbers, and none is infinite."""
    return bool(get_array_module(array).isfinite(array).all())


def uniform(model: Model, shape: tuple[int, ...], fans: float) -> Any:
    """Glorot & Bengio 2010: uniform, scaled by the sum of fan-in and fan-out."""
    scale = (6.0 / fans) ** 0.5
    sample: Any = numpy.random.uniform(-scale, scale, shape).astype("float32")
    return model.ops.asarray(sample)


def spread(model: Model, rows: Any, old_sizes: Sequence[int], new_sizes: Sequence[int]) -> Any:
    """A table made of blocks of rows, each block with room for more rows at its end.

    Args:
        model: whose ops allocate the new table.
        rows: the table, (sum of old_sizes, ...).
        old_sizes: rows of each block.
        new_sizes: rows that each block shall have, at least as many.

    Returns:
        The new table, (sum of new_sizes, ...); new rows are zeros.
    """
    table: Any = model.ops.alloc((sum(new_sizes), *rows.shape[1:]))
    start_old = start_new = 0
    for old_size, new_size in zip(old_sizes, new_sizes, strict=True):
        table[start_new : start_new + old_size] = rows[start_old : start_old + old_size]
        start_old += old_size
        start_new += new_size
    return table
