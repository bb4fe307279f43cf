"""Token vectors in context: spaCy's convolutions over words, in one pass each.

The layers, their parameters and formulas are those of ``spacy.MaxoutWindowEncoder.v2``: weights
of one load into the other. On the CPU ``layers.maxout_norm`` computes all of a layer at once; with
other ops, Apple's or those of a GPU, spaCy's layers run.

A window's product is the sum of the products of its words. So where words repeat, as those of
``AffixEmbed`` do, prediction computes the first layer's products of each different word once, and
large batches keep them for the next one.

spaCy puts zeros around each document, as many as the last layer can see, and computes all layers of
them as well. Here only those near a word are computed. Without dropout, those that no word has
reached yet are all the same, and one stands for them.
"""

# No postponed annotations: spaCy validates configs by this architecture's signature.

from collections.abc import Callable, Sequence
from typing import Any

import numpy
from spacy.ml.models.tok2vec import MaxoutWindowEncoder as SpacyEncoder
from thinc.api import Model
from thinc.layers.with_array import forward as thinc_forward
from thinc.types import Floats2d

from spacy_nmparse.layers.known_words import KnownWords, Repeated
from spacy_nmparse.layers.mixing import mixer, new_seed, runs_here, take_gradients, word_products
from spacy_nmparse.layers.parameters import check_least

#: Words whose products are kept: of the default encoder, 3.5 KB each.
MOST = 10_000


def MaxoutWindowEncoder(
    width: int, window_size: int = 1, maxout_pieces: int = 3, depth: int = 1
) -> Model[list[Floats2d], list[Floats2d]]:
    """Build the encoder.

    Args:
        width: of the vectors, those that go in and those that come out.
        window_size: words to either side that a layer sees.
        maxout_pieces: of each unit.
        depth: layers, each of which adds to its input.

    Returns:
        Model: from float32 (words, width) of each document to the same.

    Raises:
        ValueError: a width, a number of pieces or a depth below 1, or a window below 0.
    """
    name = "MaxoutWindowEncoder"
    check_least(name, 1, width=width, maxout_pieces=maxout_pieces, depth=depth)
    check_least(name, 0, window_size=window_size)
    theirs = SpacyEncoder(width, window_size, maxout_pieces, depth)
    return Model(
        "window_encoder",
        forward,
        init=theirs.init,
        layers=theirs.layers,
        attrs={**theirs.attrs, "known_words": KnownWords(MOST)},
        dims={name: theirs.maybe_get_dim(name) for name in theirs.dim_names},
    )


def forward(model: Model, Xs: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Encode the words of documents.

    Raises:
        ValueError: a parameter does not have the shape that the layers were made with, or inputs
            have another width.
    """
    layers = convolutions(model)
    maxout = layers[0].layers[1].layers[0].layers[0]
    if not isinstance(Xs, (list, tuple)) or not runs_here(maxout):
        return thinc_forward(model, Xs, is_train)
    lengths = numpy.asarray([len(X) for X in Xs], dtype="int32")
    if not lengths.any():
        return list(Xs), list
    words = lengths[lengths > 0]
    before = join(Xs)
    run = Run(layers, words, is_train)
    products = None
    if isinstance(Xs, Repeated) and not is_train:
        products = word_products(run.normalized[0], Xs, model.attrs["known_words"])
    after = run.forward(before, is_train, products)

    def backprop(d_Ys: Any) -> list[Any]:
        nonlocal run
        if not is_train:  # nothing was kept
            run = Run(layers, words, is_train=False)
            run.forward(before, learn=True)
        return split(run.backward(join(d_Ys)), lengths)

    return split(after, lengths), backprop


class Run:
    """The layers, for one batch.

    Args:
        layers: what ``convolutions`` gives.
        lengths: int32, words of each document, each at least 1.
        is_train: whether there is dropout.
    """

    def __init__(self, layers: Sequence[Model], lengths: numpy.ndarray, is_train: bool) -> None:
        windows = [layer.layers[0].attrs["window_size"] for layer in layers]
        rates = [dropout_rate(layer.layers[1].layers[1]) if is_train else 0.0 for layer in layers]
        seen = [sum(windows[i + 1 :]) for i in range(len(layers))]  # around a word, from above
        if any(rates):
            reaches = seen  # places that are alike differ in what is dropped
        else:
            reaches = [min(seen[i], sum(windows[: i + 1])) for i in range(len(layers))]
        self.normalized = [layer.layers[1].layers[0] for layer in layers]
        self.mixers = [
            mixer(
                self.normalized[i],
                lengths,
                windows[i],
                reach=(reaches[i - 1] if i else 0, reaches[i]),
                with_far=reaches[i] < seen[i],
                rate=rates[i],
                seed=new_seed() if rates[i] else 0,
            )
            for i in range(len(layers))
        ]

    def forward(self, X: Any, learn: bool, products: Any = None) -> Any:
        """From float32 (1 + words, width) to the same; ``learn``: ``backward`` will follow.
        products: as of ``MaxoutNorm.forward``, of the first layer."""
        for one in self.mixers:
            X = one.forward(X, learn, products)
            products = None
        return X

    def backward(self, d_Y: Any) -> Any:
        """The gradient of ``forward``'s input; the layers get those of their parameters."""
        for i in reversed(range(len(self.mixers))):
            d_Y, gradients = self.mixers[i].backward(d_Y)
            take_gradients(self.normalized[i], gradients)
        return d_Y


def convolutions(model: Model) -> Sequence[Model]:
    """Its layers: each is ``expand_window``, then the layer that mixes a window, with dropout."""
    (inner,) = model.layers
    residuals = inner.layers if len(inner.layers) > 1 else [inner]
    return [residual.layers[0] for residual in residuals]


def dropout_rate(dropout: Model) -> float:
    """The rate of Thinc's layer in training."""
    return dropout.attrs["dropout_rate"] if dropout.attrs["is_enabled"] else 0.0


def join(parts: Sequence[Any]) -> Any:
    """A row of zeros, then those of all documents: float32 (1 + words, width)."""
    found = [part for part in parts if len(part)]
    far = numpy.zeros((1, found[0].shape[1]), dtype="float32")
    return numpy.concatenate([far, *found], dtype="float32", casting="same_kind")


def split(rows: Any, lengths: numpy.ndarray) -> list[Any]:
    """The rows of each document; row 0 is none's."""
    ends = (1 + numpy.cumsum(lengths)).tolist()
    return [rows[end - n : end] for end, n in zip(ends, lengths.tolist(), strict=True)]
