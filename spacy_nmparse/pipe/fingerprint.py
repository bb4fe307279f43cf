"""A fingerprint of the token vectors that a parser with a shared tok2vec was trained on.

A parser listens to whichever ``tok2vec`` its pipeline has. With the vectors of another one most of
its trees are wrong, and nothing else shows it. The fingerprint is the direction in which the
vectors of the dev set vary least: next to nothing, since a ``tok2vec`` ends in layers that
normalize. Vectors of other texts and languages vary as little there, those of another ``tok2vec``
many times as much, unless both have been trained for a few updates only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model, to_numpy

from spacy_nmparse.pipe.words import TRANSFORMER, listeners

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
        self._home: Vocab | None = None  # of the pipeline whose vectors are known
        self._compared: list[numpy.ndarray] = []

    def restart(self) -> None:
        """Forget the vectors: an update changes them."""
        self.values, self._noted, self._home = None, [], None

    def fits(self, model: Model, docs: Sequence[Doc]) -> bool:
        """Whether the token vectors of documents can be those that the parser was trained on. The
        first ones in training are noted, the first ones of another pipeline are compared. Where no
        fingerprint is known, nothing is kept.

        Args:
            model: The parser's model.
            docs: Documents that the shared tok2vec has processed.
        """
        vocab, noted = docs[0].vocab, self._noted
        is_full = noted is None or self.values is not None or sum(map(len, noted)) >= MOST
        if vocab is self._home and is_full:
            return True
        notes = noted if self._home is None or self._home is vocab else None
        known = self.saved() if notes is None else []
        if known is None:
            return True
        tok2vec = model.maybe_get_ref("tok2vec")
        heard = [] if tok2vec is None else listeners(tok2vec)
        if tok2vec is None or not heard:
            return True
        if any(one.name == TRANSFORMER for one in heard):  # its output is no vectors yet
            heard = [tok2vec]
        outputs = [numpy.concatenate([*map(to_numpy, one.predict(docs))]) for one in heard]
        vectors = numpy.hstack(outputs)  # without what the parser has of its own beside them
        if notes is not None:
            notes.append(vectors)
            self._home = vocab
            return True
        self._compared.append(vectors)
        if sum(map(len, self._compared)) < LEAST:
            return True
        vectors, self._compared = numpy.concatenate(self._compared), []
        self._home = vocab
        return distance(known, vectors) < LIMIT

    def saved(self) -> list[list[float]] | None:
        """Numbers of which a ``Fingerprint`` can be made again; None: it has seen too few words."""
        if self.values is None and self._noted:
            vectors = numpy.unique(numpy.concatenate(self._noted), axis=0)
            self._noted = [vectors]
            if len(vectors) >= VECTORS * vectors.shape[1]:
                vectors = vectors.astype("float64")
                variances, directions = numpy.linalg.eigh(numpy.cov(vectors.T))
                least = max(variances[0], 1e-7 * variances.mean())
                rows = (vectors.mean(axis=0), directions[:, 0], [least])
                self.values = [[float(f"{value:.8g}") for value in row] for row in rows]
        return self.values


def check_values(values: Any) -> None:
    """Raise ValueError where these are not the values of a fingerprint."""
    try:
        mean, direction, (variance,) = (numpy.asarray(row, dtype="float64") for row in values)
        numbers = numpy.stack([mean, direction])
        fits = numbers.ndim == 2 and numpy.isfinite(numbers).all() and 0 < variance < numpy.inf
    except (TypeError, ValueError) as error:
        raise ValueError(f"a fingerprint of token vectors that is none ({error})") from error
    if not fits:
        raise ValueError("a fingerprint of token vectors that is none")


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
