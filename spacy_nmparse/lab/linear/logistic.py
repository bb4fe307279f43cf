"""The weights of a linear scorer, as a multinomial logistic regression learns them.

It learns from every configuration that training visits, not from mistakes alone: by stochastic
gradient descent, with an L1 penalty that is taken lazily, the cumulative one of Tsuruoka, Tsujii &
Ananiadou (2009), *Stochastic gradient descent training for L1-regularized log-linear models with
cumulative penalty*. Rare features have no weights. See ``updates.learn_examples``.
"""

from __future__ import annotations

import numpy

from spacy_nmparse.lab.linear.perceptron import Perceptron, longer
from spacy_nmparse.lab.linear.updates import Lessons, learn_examples

RATE = 0.1  # learning rate of the first configuration


class Logistic(Perceptron):
    """The weights; kept and saved as a perceptron's, but not averaged.

    Args:
        l1: the penalty for each configuration.
        min_count: features that were not seen so often have no weights.
    """

    def __init__(self, l1: float, min_count: int) -> None:
        super().__init__()
        self._l1 = l1
        self._min_count = min_count
        self._taken = numpy.zeros(0, dtype="float32")  # what it has had, with its sign
        self._counts = numpy.zeros(0, dtype="uint8")

    def begin(self, weights: numpy.ndarray | None) -> None:
        """As ``Perceptron.begin``."""
        super().begin(weights)
        self._penalty = 0.0  # what each weight could have had so far

    def parsing_weights(self) -> numpy.ndarray:
        """Weights to parse with: the present ones, all penalties taken."""
        if self._average is None:
            assert self._present is not None
            now = self._present
            size = numpy.abs(now) - self._penalty - numpy.sign(now) * self._taken
            self._average = numpy.sign(now) * numpy.maximum(size, 0)
        return self._average

    def learning_weights(self) -> numpy.ndarray:
        """Weights to learn with; training that goes on counts features from zero."""
        if self._present is None:
            self._present = self.parsing_weights().copy()
            self._taken = numpy.zeros_like(self._present)
            self._counts = numpy.zeros(len(self._present), dtype="uint8")
        return self._present

    def learn(self, lessons: Lessons) -> None:
        """As ``Perceptron.learn``."""
        present = self.learning_weights()
        self._time, self._penalty = learn_examples(
            present,
            self._taken,
            self._counts,
            (self._time, self._penalty),
            lessons,
            RATE,
            self._l1,
            self._min_count,
        )

    def resize(self, size: int) -> None:
        """As ``Perceptron.resize``."""
        super().resize(size)
        if self._present is not None:
            self._taken, self._counts = longer(self._taken, size), longer(self._counts, size)
