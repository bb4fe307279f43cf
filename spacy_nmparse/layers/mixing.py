"""Thinc's maxout layers with layer normalization, computed by ``layers.maxout_norm``."""

from __future__ import annotations

from typing import Any

import numpy
from thinc.api import Model, NumpyOps

from spacy_nmparse.layers.digest import digest
from spacy_nmparse.layers.known_words import KnownWords, Repeated
from spacy_nmparse.layers.maxout_norm import MaxoutNorm
from spacy_nmparse.layers.ops import FastOps
from spacy_nmparse.layers.products import packed

#: So many pieces have their numbers in a byte.
MOST_PIECES = 256


def runs_here(maxout: Model) -> bool:
    """Whether ``mixer`` can compute a layer: not with other ops than NumPy's, and not with more
    pieces."""
    return type(maxout.ops) in (NumpyOps, FastOps) and maxout.get_dim("nP") <= MOST_PIECES


def mixer(normalized: Model, lengths: Any, window: int = -1, **options: Any) -> MaxoutNorm:
    """A ``MaxoutNorm`` that computes a layer for one batch.

    Args:
        normalized: Thinc's ``Maxout`` with ``normalize``.
        lengths: int32, words of each sequence.
        window: words to either side that the layer sees; -1: it sees words, not windows.
        options: as of ``MaxoutNorm``.

    Raises:
        ValueError: parameters whose shapes do not fit one another.
    """
    maxout, norm = normalized.layers
    weights: Any = maxout.get_param("W")
    bias: Any = maxout.get_param("b")
    gain: Any = norm.get_param("G")
    shift: Any = norm.get_param("b")
    shapes = [tuple(array.shape) for array in (weights, bias, gain, shift)]
    width, pieces, n_in = maxout.get_dim("nO"), maxout.get_dim("nP"), maxout.get_dim("nI")
    if shapes != [(width, pieces, n_in), (width, pieces), (width,), (width,)] or (
        window >= 0 and n_in != width * (2 * window + 1)
    ):
        raise ValueError(
            f"maxout: weights, bias, gain and shift have the shapes {shapes}, not those of width "
            f"{width}, {pieces} pieces and {n_in} inputs: the model is damaged, or was made with "
            f"another configuration."
        )
    W = _plain(weights)
    parameters = (W.reshape(-1, n_in), _plain(bias).reshape(-1), _plain(gain), _plain(shift))
    exact = packed(W, pieces=pieces, exact=window >= 0)
    return MaxoutNorm(parameters, exact, lengths, window, **options)


def word_products(
    normalized: Model, words: Repeated, known: KnownWords
) -> tuple[numpy.ndarray, numpy.ndarray]:
    """A layer's products of words, at each place of a window.

    Args:
        normalized: as of ``mixer``.
        words: what the layer's windows are of.
        known: products of before; they are kept where ``words`` tells what computed them.

    Returns:
        As of ``MaxoutNorm.forward``.
    """
    weights: Any = normalized.layers[0].get_param("W")
    W = _plain(weights)
    width = words.vectors.shape[1]
    one = packed(W, pieces=W.shape[1], windows=W.shape[2] // width, exact=True)
    rows = numpy.arange(len(words.keys))
    if words.weights is None:
        products = one.times(words.vectors)
    else:
        number = digest([W]) ^ words.weights
        products, rows = known.vectors(
            words.keys, number, lambda places: one.times(words.vectors[places])
        )
    return products, numpy.append(-1, rows[words.place])


def take_gradients(normalized: Model, gradients: Any) -> None:
    """Give a layer the gradients that ``MaxoutNorm.backward`` found."""
    maxout, norm = normalized.layers
    shape = maxout.get_param("W").shape
    maxout.inc_grad("W", gradients[0].reshape(shape))
    maxout.inc_grad("b", gradients[1].reshape(shape[:2]))
    norm.inc_grad("G", gradients[2])
    norm.inc_grad("b", gradients[3])


def new_seed() -> int:
    """A seed of dropout, from NumPy's generator."""
    return int(numpy.random.randint(2**32, dtype="uint64"))


def _plain(array: Any) -> Any:
    return numpy.ascontiguousarray(array, dtype="float32")
