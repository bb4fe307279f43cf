"""What training has seen of words, so that prediction shows the network nothing else.

Words pick rows of tables by hashes of their norm, shape and affixes. Where training has never seen
such a value, the row was learned for other values: it is noise. These values get the row of
``HIDDEN``. Norms: those of words that training has not seen (``AffixEmbed`` hides some norms in
training, too, by word_dropout). Shapes: those that no word of the training data has. Affixes: all
but those of two words of different norms, in training too; a new word keeps the longest of these.
"""

from __future__ import annotations

from typing import Any

import numpy

#: The number of what is hidden.
HIDDEN = 0

#: Names of the arrays: keys that a word has, and keys that two words have, ascending.
SEEN, SHARED = "seen", "shared"

#: Both, uint32 (keys,).
Keys = dict[str, numpy.ndarray]

ODD = numpy.uint64(0x9E3779B97F4A7C15)


def nothing_seen() -> Keys:
    """The arrays before training."""
    return {name: numpy.empty(0, dtype="uint32") for name in (SEEN, SHARED)}


def check(known: Keys) -> None:
    """Raise ValueError where these are not both arrays."""
    for name in (SEEN, SHARED):
        keys: Any = known[name]
        is_array = getattr(keys, "dtype", None) == "uint32" and keys.ndim == 1
        if not is_array or (keys[1:] <= keys[:-1]).any():
            raise ValueError(f"the keys {name} are no ascending numbers of type uint32")


def see(known: Keys, numbers: numpy.ndarray) -> None:
    """Add words of the training data.

    Args:
        known: both arrays; new ones take their places.
        numbers: uint64 (words, 2 + affixes): norms, shapes, affixes.
    """
    keys = keys_of(numbers)
    new = ~contains(known[SEEN], keys[:, :2])
    if not new.any():
        return
    norms = keys[new[:, 0]]
    _, first = numpy.unique(norms[:, 0], return_index=True)  # a norm can have several shapes
    found, words = numpy.unique(norms[first], return_counts=True)
    again = found[(words > 1) | contains(known[SEEN], found)]
    known[SHARED] = with_keys(known[SHARED], again)
    known[SEEN] = with_keys(known[SEEN], numpy.append(found, keys[new[:, 1], 1]))


def hide(known: Keys, numbers: numpy.ndarray) -> None:
    """Hide norms and shapes that training has not seen, and affixes that it has not seen in two
    words. Before training, nothing hides.

    A shape of one word only is shown: it tells opening quotes from closing ones.

    Args:
        known: both arrays.
        numbers: as of ``see``; what hides becomes HIDDEN.
    """
    if not len(known[SEEN]):
        return
    keys = keys_of(numbers)
    shown = contains(known[SHARED], keys)
    shown[:, :2] = contains(known[SEEN], keys[:, :2])
    numbers[~shown] = HIDDEN


def keys_of(numbers: numpy.ndarray) -> numpy.ndarray:
    """A key for each number and its column, uint32 of the same shape."""
    columns = numpy.arange(numbers.shape[1], dtype="uint64") * ODD
    return (((numbers ^ columns) * ODD) >> numpy.uint64(32)).astype("uint32")


def with_keys(ascending: numpy.ndarray, keys: numpy.ndarray) -> numpy.ndarray:
    """The ascending keys of both arrays. Few keys are new, and only those are sorted."""
    new = numpy.unique(keys[~contains(ascending, keys)])
    return numpy.insert(ascending, numpy.searchsorted(ascending, new), new)


def contains(ascending: numpy.ndarray, keys: numpy.ndarray) -> numpy.ndarray:
    """Tell which keys are in an array of ascending ones: bool of the shape of keys."""
    if not len(ascending):
        return numpy.zeros(keys.shape, dtype=bool)
    places = numpy.searchsorted(ascending, keys)
    found: numpy.ndarray = ascending[numpy.minimum(places, len(ascending) - 1)] == keys
    return found
