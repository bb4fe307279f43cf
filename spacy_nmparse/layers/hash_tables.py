"""Tables of hashed vectors, one for each kind of number that is known of a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy
from thinc.api import Model, NumpyOps, uniform_init

from spacy_nmparse.layers.table_rows import add_to_rows, rows_of, sum_rows


def HashTables(
    width: int, sizes: Sequence[int], dropout_factor: float
) -> Model[numpy.ndarray, Any]:
    """Build the layer: what as many of thinc's ``HashEmbed`` do, side by side, at one go.

    Dropout is theirs, too: whole columns of the tables' vectors are left out for a batch.

    Args:
        width: of each table's vectors.
        sizes: rows of each table.
        dropout_factor: columns are dropped at this multiple of the rate that training sets, at
            most at 0.9.

    Returns:
        Model: from uint64 (words, tables), on the CPU, to float32 (words, tables * width).
    """
    return Model(
        "nmparse_hash_tables",
        forward,
        init=partial(init, list(sizes)),
        params={name_of(i): None for i in range(len(sizes))},
        dims={"nO": len(sizes) * width},
        attrs={"dropout_rate": 0.0, "dropout_factor": dropout_factor},
    )


def name_of(table: int) -> str:
    """The name of a table's parameter."""
    return f"E{table}"


def init(sizes: list[int], model: Model, X: Any = None, Y: Any = None) -> None:
    """Initialize the tables."""
    width = model.get_dim("nO") // len(sizes)
    for i, size in enumerate(sizes):
        model.set_param(name_of(i), uniform_init(model.ops, (size, width)))


def forward(
    model: Model, numbers: numpy.ndarray, is_train: bool
) -> tuple[Any, Callable[[Any], list[Any]]]:
    """Sum the rows of each number; vectors of a word's numbers stand side by side.

    Raises:
        ValueError: the numbers are not one for each table, or a table does not have the width that
            the layer was made with, or no rows.
    """
    names = list(model.param_names)
    tables: list[Any] = [model.get_param(name) for name in names]
    if numbers.shape[1] != len(tables):
        raise ValueError(
            f"AffixEmbed: {numbers.shape[1]} numbers of a word for {len(tables)} tables: give one "
            f"for each table."
        )
    width = model.get_dim("nO") // len(names)
    for name, table in zip(names, tables, strict=True):
        if table.ndim != 2 or table.shape[1] != width or not len(table):
            raise ValueError(
                f"AffixEmbed: the table {name} has the shape {table.shape}, not (rows, {width}): "
                f"the model is damaged, or was made with another configuration."
            )
    on_cpu = isinstance(model.ops, NumpyOps)
    rows: Any = rows_of(numbers, [len(table) for table in tables])
    if on_cpu:
        result = sum_rows(tables, rows)
    else:
        rows = model.ops.asarray(rows)
        summed = [model.ops.gather_add(table, rows[i]) for i, table in enumerate(tables)]
        result = model.ops.xp.hstack(summed)
    mask: Any = None
    if is_train and model.attrs["dropout_rate"]:
        rate = min(model.attrs["dropout_rate"] * model.attrs["dropout_factor"], 0.9)
        mask = model.ops.get_dropout_mask((result.shape[1],), rate)
        result *= mask

    def backprop(d_result: Any) -> list[Any]:
        if mask is not None:
            d_result = d_result * mask
        for name, table in zip(names, tables, strict=True):
            if not model.has_grad(name):
                model.set_grad(name, model.ops.alloc2f(*table.shape))
        gradients: list[Any] = [model.get_grad(name) for name in names]
        if on_cpu:
            add_to_rows(gradients, rows, model.ops.as_contig(d_result))
        else:
            parts = model.ops.xp.split(d_result, len(names), axis=1)
            for i, (gradient, part) in enumerate(zip(gradients, parts, strict=True)):
                for hashed in model.ops.xp.ascontiguousarray(rows[i].T):
                    model.ops.scatter_add(gradient, hashed, model.ops.as_contig(part))
        return []

    return result, backprop
