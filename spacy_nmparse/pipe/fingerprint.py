"""A fingerprint of the token vectors that a parser with a shared tok2vec was trained on.

A parser listens to whichever ``tok2vec`` its pipeline has. With the vectors of another one most of
its trees are wrong, and nothing else shows it. The fingerprint is the direction in which the
vectors of the dev set vary least: next to nothing, since a ``tok2vec`` ends in layers that
normalize. Vectors of other texts and languages vary as little there, those of another ``tok2vec``
many times as much, unless both have been trained for a few updates only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy
from spacy.tokens import Doc
from thinc.api import Model, to_numpy

MOST = 10_000  # words that a fingerprint is made of, at most
LEAST = 50  # words that are compared
#: Different vectors that a fingerprint needs, times their width: few do not show how they vary.
VECTORS = 4
#: Vectors that vary more than so many times as much as in training come from another tok2vec.
LIMIT = 10.0


class Fingerprint:
    """Notes token vectors after updates, and compares those of a trained parser.

    Attributes:
        values: The mean, the direction, and a row with its variance alone; None: not known.
    """

    def __init__(self, values: list[list[float]] | None = None) -> None:
        self.values = values
        self._noted: list[numpy.ndarray] | None = None  # None: the parser is not being trained
        self._home: int | None = None  # the vocabulary of the pipeline whose vectors are known
        self._compared: list[numpy.ndarray] = []

    def restart(self) -> None:
        """Forget the vectors: an update changes them."""
        self.values, self._noted, self._home = None, [], None

    def fits(self, model: Model, docs: Sequence[Doc]) -> bool:
        """Whether the token vectors of documents can be those that the parser was trained on. The
        first ones in training are noted, the first ones of another pipeline are compared.

        Args:
            model: The parser's model.
            docs: Documents that the shared tok2vec has processed.
        """
        vocab, noted = id(docs[0].vocab), self._noted
        is_full = noted is None or sum(map(len, noted)) >= MOST
        if vocab == self._home and is_full:
            return True
        tok2vec = model.maybe_get_ref("tok2vec")
        if tok2vec is None or not any(one.name.endswith("listener") for one in tok2vec.walk()):
            return True
        vectors = numpy.concatenate([to_numpy(one) for one in tok2vec.predict(docs)])
        if noted is not None and self._home in (None, vocab):
            noted.append(vectors)
            self._home = vocab
            return True
        known = self.saved()
        self._compared.append(vectors)
        if known is None or sum(map(len, self._compared)) < LEAST:
            return True
        vectors, self._compared = numpy.concatenate(self._compared), []
        self._home = vocab
        return distance(known, vectors) < LIMIT

    def saved(self) -> list[list[float]] | None:
        """What ``Fingerprint`` takes back."""
        if self.values is None and self._noted:
            vectors = numpy.unique(numpy.concatenate(self._noted), axis=0).astype("float64")
            if len(vectors) >= VECTORS * vectors.shape[1]:
                variances, directions = numpy.linalg.eigh(numpy.cov(vectors.T))
                least = max(variances[0], 1e-7 * variances.mean())
                rows = (vectors.mean(axis=0), directions[:, 0], [least])
                self.values = [[float(f"{value:.8g}") for value in row] for row in rows]
        return self.values


def distance(values: list[list[float]], vectors: numpy.ndarray) -> float:
    """How many times the variance of a fingerprint is that of token vectors, in its direction.

    Args:
        values: A fingerprint's.
        vectors: float32 (words, width).
    """
    mean, direction, (variance,) = map(numpy.asarray, values)
    if vectors.shape[1] != len(mean):
        return float("inf")
    return float((((vectors - mean) @ direction) ** 2).mean() / variance)
