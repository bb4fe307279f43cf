"""Vectors of words that were computed before: most words of a text have been in it already.

They are those of one set of weights. The content of all weights decides, so that none is given for
others, whatever has changed them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy

from spacy_nmparse.layers.digest import digest

MOST = 30_000  # words whose vectors are kept
WORTH = 1000  # words of a batch from which on it pays to look at all weights


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

    def with_more(self, keys: numpy.ndarray, vectors: numpy.ndarray) -> Known:
        """Those and others, which are not among them. Nothing that this object has changes."""
        n, more = len(self.keys), len(keys)
        table = self.vectors
        if n + more > len(table):
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
        weights: Sequence[Any],
        compute: Callable[[numpy.ndarray], Any],
    ) -> Any:
        """The vectors of different words.

        Args:
            keys: uint64 (words,), a number for each, ascending.
            weights: all that the vectors depend on, float32.
            compute: from places among the keys to the vectors of these words; each row has the same
                bits whatever other rows are computed with it.

        Returns:
            float32 (words, width)
        """
        number = digest(weights)
        known = self._known
        if known.weights != number:
            known = Known(number)
        rows = known.find(keys)
        new = numpy.flatnonzero(rows < 0)
        if not len(new):
            return known.vectors[rows]
        computed = compute(new)
        vectors = numpy.empty((len(keys), computed.shape[1]), dtype="float32")
        old = numpy.flatnonzero(rows >= 0)
        if len(old):
            vectors[old] = known.vectors[rows[old]]
        vectors[new] = computed
        self._keep(number, keys, vectors)
        return vectors

    def _keep(self, weights: int, keys: numpy.ndarray, vectors: numpy.ndarray) -> None:
        with self._writing:
            known = self._known
            if known.weights != weights:
                known = Known(weights)
            new = numpy.flatnonzero(known.find(keys) < 0)  # another thread may have come first
            if len(known.keys) + len(new) > self._most:
                known, new = Known(weights), numpy.arange(len(keys))
            if len(new) <= self._most:
                self._known = known.with_more(keys[new], vectors[new])
