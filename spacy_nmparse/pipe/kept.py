"""Outputs of documents, kept for the next time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from spacy.attrs import ORTH, SPACY
from spacy.tokens import Doc

Output = TypeVar("Output")

FULL = (
    "What a transformer says of documents is kept, but {} MB are full: it runs again whenever "
    "another document comes, and training takes much longer. If there is more memory, keep more: "
    "--components.transformer.megabytes. (Said once.)"
)


class KeptOutputs(Generic[Output]):
    """The outputs of a transformer, by the words of documents.

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
        """Look documents up, and run it on those that are not there."""
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
