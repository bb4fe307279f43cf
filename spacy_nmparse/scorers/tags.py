"""The tags that a scorer learns, and the sizes of the layers that learn them (see ``tagging``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from thinc.api import Model

from spacy_nmparse.layers.parameters import renew

#: A tag that is not known: nothing is learned from it.
UNKNOWN = -1

#: A scorer's references to the layer of the attributes and to that of the readings.
REFERENCES = ("tagging", "reading")


@dataclass(frozen=True)
class GoldTags:
    """The gold tags of words.

    values: int32 (words, attributes), the index of the value of each attribute, or UNKNOWN.
    readings: int32 (words,), the number of the reading, or UNKNOWN.
    table: float32 (readings, sum of sizes), 1 where a reading has a value, 0 elsewhere.
    """

    values: numpy.ndarray
    readings: numpy.ndarray
    table: numpy.ndarray


def set_sizes(model: Model, sizes: Sequence[int]) -> None:
    """Tell the layer how many values each attribute has. It then has to be initialized."""
    model.attrs["sizes"] = list(sizes)
    renew(model)
    for name in ("W", "b"):
        model.set_param(name, None)
    model.set_dim("nO", None, force=True)  # type: ignore[arg-type]


def shapes(model: Model, sizes: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Shape of each parameter that attributes of these sizes ask for.

    Raises:
        ValueError: the layer was made for others.
    """
    if list(sizes) != model.attrs["sizes"]:
        raise ValueError(f"tags of sizes {model.attrs['sizes']} were learned, not of {list(sizes)}")
    if not sizes:
        return {}
    return {"W": (sum(sizes), model.get_dim("nI")), "b": (sum(sizes),)}
