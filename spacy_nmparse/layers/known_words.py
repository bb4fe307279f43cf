"""A cache of values that were computed for words: most words of a text have been in it before.

The cache belongs to the content of all weights, told by a digest (``layers.digest``). When any
weight has changed, the next call starts an empty cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy

MOST = 30_000  # words whose vectors are kept
WORTH = 1000  # words of a batch from which on it pays to look at all weights


class Repeated(list[Any]):
    """The vectors of the words of documents, many of which are the same word: a list of float32
    (words, width).

    Attributes:
        keys: uint64 (different words,), a number for each, ascending.
        vectors: float32 (different words, width).
        place: int32 (words,), for each word of the documents its place among the different ones.
        weights: a number for what computed the vectors, or None: it was not worth asking for.
    """

    def __init__(
        self, parts: Iterable[Any], keys: numpy.ndarray, vectors: Any, place: Any,
        weights: int | None,
    ) -> None:  # fmt: skip
        super().__init__(parts)
        self.keys, self.vectors, self.place, self.weights = keys, vectors, place, weights


@dataclass
class Known:
    """The words of one set of weights.

    Attributes:
        weights: the number of their content.
        keys: uint64 (words,), ascending.
        rows: int64 (words,), the row of each key.
        vectors: float32 (rows, width), more rows than there are words.
    """

    weights: int | None = None
    keys: numpy.ndarray = field(default_factory=lambda: numpy.empty(0, dtype="uint64"))
    rows: numpy.ndarray = field(default_factory=lambda: numpy.empty(0, dtype="int64"))
    vectors: numpy.ndarray = field(default_factory=lambda: numpy.empty((0, 0), dtype="float32"))

    def find(self, keys: numpy.ndarray) -> numpy.ndarray:
        """The row of each word; -1: it is not known."""
        if not len(self.keys):
            return numpy.full(len(keys), -1)
        places = numpy.minimum(numpy.searchsorted(self.keys, keys), len(self.keys) - 1)
        return numpy.where(self.keys[places] == keys, self.rows[places], -1)

    def with_more(self, keys: numpy.ndarray, vectors: numpy.ndarray, alone: bool) -> Known:
        """Those and others, which are not among them. Nothing that this object has changes.
        alone: the table may have other rows already behind those of this object."""
        n, more = len(self.keys), len(keys)
        table = self.vectors
        if alone or n + more > len(table):
            table = numpy.empty((max(n + more, 2 * n), vectors.shape[1]), dtype="float32")
            if n:
                table[:n] = self.vectors[:n]
        table[n : n + more] = vectors
        places = numpy.searchsorted(self.keys, keys)
        rows = numpy.arange(n, n + more)
        return Known(
            self.weights,
            numpy.insert(self.keys, places, keys),
            numpy.insert(self.rows, places, rows),
            table,
        )


class KnownWords:
    """The vectors that a layer has computed. Any number of threads may ask.

    Args:
        most: words that are kept.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known = Known()
        self._writing = Lock()

    def __deepcopy__(self, memo: Any) -> KnownWords:
        """Copies and pickles of a layer have nothing in them at first."""
        return KnownWords(self._most)

    def __reduce__(self) -> Any:
        return KnownWords, (self._most,)

    def vectors(
        self,
        keys: numpy.ndarray,
        weights: int,
        compute: Callable[[numpy.ndarray], Any],
    ) -> tuple[Any, numpy.ndarray]:
        """The vectors of different words.

        Args:
            keys: uint64 (words,), a number for each, ascending.
            weights: a number for all that the vectors depend on.
            compute: from places among the keys to the vectors of these words; each row has the same
                bits whatever other rows are computed with it.

        Returns:
            A table, float32 (rows, width), and int64 (words,), the row of each word.
        """
        known = self._known
        if known.weights != weights:
            known = Known(weights)
        rows = known.find(keys)
        new = numpy.flatnonzero(rows < 0)
        if len(new):
            if len(known.keys) + len(new) > self._most:  # those of this batch stay
                old = numpy.flatnonzero(rows >= 0)
                known = Known(weights).with_more(keys[old], known.vectors[rows[old]], alone=True)
            computed = compute(new)
            with self._writing:
                known = known.with_more(keys[new], computed, alone=known is not self._known)
                if len(known.keys) <= self._most:
                    self._known = known
            rows = known.find(keys)
        return known.vectors, rows
