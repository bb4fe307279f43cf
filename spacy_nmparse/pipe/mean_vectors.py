"""Vectors of words by a transformer: the mean of what it says of a word wherever a text has it.

A parser that looks them up knows a part of what the transformer knows, and needs none to parse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy
from spacy.language import Language
from spacy.strings import StringStore
from spacy.tokens import Doc
from spacy.training.batchers import minibatch_by_words
from spacy.vectors import Vectors
from thinc.api import to_numpy

#: Documents that are sorted by length, and words that the transformer runs on at once.
SORTED, AT_ONCE = 1000, 2000
#: Differences of vectors below this share of the vectors are rounding.
NOISE = 1e-5


def transformer_of(nlp: Language) -> Any:
    """The transformer of a pipeline, a component of spacy-curated-transformers.

    Raises:
        ValueError: the pipeline has none.
    """
    for _, pipe in nlp.components:
        if hasattr(pipe, "all_layer_outputs"):
            return pipe
    raise ValueError(
        f"The pipeline {nlp.pipe_names} has no transformer of spacy-curated-transformers."
    )


class MeanVectors:
    """Sums over the places of words in texts.

    Args:
        transformer: as of ``transformer_of``.
    """

    def __init__(self, transformer: Any) -> None:
        self._transformer = transformer
        self._sums: dict[str, numpy.ndarray] = {}
        self._counts: Counter[str] = Counter()

    def add(self, docs: Iterable[Doc]) -> Iterator[int]:
        """Add the words of documents, whose tokens count as words but for whitespace. Yields how
        many words were added, after each batch."""
        rest = filter(len, docs)
        known = self._transformer.all_layer_outputs
        self._transformer.all_layer_outputs = True
        try:
            while some := sorted(islice(rest, SORTED), key=len):
                for batch in minibatch_by_words(some, AT_ONCE, get_length=len):
                    outputs = self._transformer.predict(batch).all_outputs
                    for doc, layers in zip(batch, outputs, strict=True):
                        self._add(doc, layers[1:])  # behind the embedding
                    yield sum(map(len, batch))
        finally:
            self._transformer.all_layer_outputs = known

    def _add(self, doc: Doc, layers: list[Any]) -> None:
        pieces: Any = to_numpy(sum(layer.dataXd for layer in layers)) / len(layers)
        lengths: Any = to_numpy(layers[0].lengths)
        starts = numpy.cumsum(lengths) - lengths
        for token in doc:
            if token.is_space or not lengths[token.i]:
                continue
            begin, word = starts[token.i], token.text
            vector = pieces[begin : begin + lengths[token.i]].mean(axis=0)
            if word in self._sums:
                self._sums[word] += vector
            else:
                self._sums[word] = vector
            self._counts[word] += 1

    def vectors(self, strings: StringStore, width: int) -> Vectors:
        """The vectors: the principal components of the means, in which common words count more, by
        the logarithm of their number. They are scaled together, to a deviation of about 1.

        Args:
            strings: of the vocabulary that gets the vectors. The words are added.
            width: numbers of a vector, if the transformer has so many.

        Raises:
            ValueError: there are fewer words than numbers of a vector, or the transformer says
                the same of all of them.
        """
        words = list(self._sums)
        if len(words) <= width:
            raise ValueError(
                f"The texts have {len(words)} different words, too few for vectors of {width} "
                f"numbers."
            )
        counts = numpy.array([self._counts[word] for word in words])
        means = numpy.stack([self._sums[word] for word in words]) / counts[:, None]
        weights = 1 + numpy.log(counts)
        weights /= weights.sum()
        centre = weights @ means
        means -= centre
        variances, axes = numpy.linalg.eigh((means * weights[:, None]).T @ means)
        means = means @ axes[:, ::-1][:, :width]
        deviation = numpy.sqrt(variances[-width:].clip(min=0)).mean()
        if not deviation > NOISE * numpy.abs(centre).max():
            raise ValueError("The transformer says the same of all words: is it a trained one?")
        means /= deviation
        return Vectors(strings=strings, data=means.astype("float32"), keys=words)
