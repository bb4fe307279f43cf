"""What a layer said of documents, kept for the next time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from spacy.attrs import ORTH, SPACY
from spacy.tokens import Doc
from thinc.api import Model

Output = TypeVar("Output")

FULL = (
    "What a transformer says of documents is kept, but {} MB are full: it runs again whenever "
    "another document comes, and training takes much longer. Keep more: a larger 'megabytes' of "
    "the transformer's component (a teacher's is in its own config.cfg). Or, with a teacher, have "
    "fewer different sentences: --training.batcher.copies 5. (Said once.)"
)


class KeptOutputs(Generic[Output]):
    """The outputs of a layer, by the words of documents.

    Args:
        limit: Bytes. When they are used up, what is kept stays, and other documents are computed
            each time: a warning says so once. 0: nothing is kept.
        run: Computes the outputs of documents, each in memory of its own.
        size: The bytes of an output.
    """

    def __init__(
        self,
        limit: int,
        run: Callable[[list[Doc]], Iterable[Output]],
        size: Callable[[Output], int],
    ) -> None:
        self._limit = self._free = limit
        self._is_full = limit == 0
        self._run = run
        self._size = size
        self._kept: dict[bytes, Output] = {}

    def __call__(self, docs: Iterable[Doc]) -> list[Output]:
        """Look documents up, and run the layer on those that are not there."""
        docs = list(docs)
        keys = [doc.to_array([ORTH, SPACY]).tobytes() for doc in docs]
        lacking = {key: doc for key, doc in zip(keys, docs, strict=True) if key not in self._kept}
        found: dict[bytes, Output] = {}
        if lacking:
            found = dict(zip(lacking, self._run(list(lacking.values())), strict=True))
        for key, output in found.items():
            size = self._size(output)
            if size <= self._free:
                self._free -= size
                self._kept[key] = output
            elif not self._is_full:
                self._is_full = True
                warnings.warn(FULL.format(self._limit // 1_000_000), stacklevel=2)
        return [self._kept[key] if key in self._kept else found[key] for key in keys]


def keep_outputs(model: Model, name: str, limit: int) -> None:
    """Keep what the layers of this name in a model say of documents: of each an array.

    Args:
        model: A model that is not trained.
        name: The layers' name. Their input is documents, their output an array of each.
        limit: Bytes, for each layer.
    """
    for layer in [layer for layer in model.walk() if layer.name == name]:
        model.replace_node(layer, with_kept(layer, limit))


def with_kept(layer: Model, limit: int) -> Model:
    """A layer that keeps another one's outputs."""

    def run(docs: list[Doc]) -> list[Any]:
        return [array.copy() for array in layer.predict(docs)]

    kept = KeptOutputs(limit, run, lambda array: array.nbytes)

    def forward(model: Model, docs: list[Doc], is_train: bool) -> tuple[list[Any], Any]:
        return kept(docs), no_gradient

    return Model(f"kept_{layer.name}", forward, layers=[layer])


def no_gradient(*given: object, **settings: object) -> list[Doc]:
    """The backward pass of a layer that is not trained."""
    return []
