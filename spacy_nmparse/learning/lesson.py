"""A lesson: the batch, gold trees and settings of one update."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy

from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.systems import Gold, TransitionSystem


@dataclass(frozen=True)
class Lesson:
    """A batch and its gold trees.

    Attributes:
        system: The transition system.
        scorer: The model's scores of the batch.
        golds: A gold tree for each sequence; their lengths add up to the words of the batch.
        constraints: int8 (words,), as in ``greedy.parse``.
        dropout: Probability of dropping a hidden unit.
        teachers: Gives the scores of the batch by other models of the same system and labels; their
            choices are learned, too.
        weight: The teachers' share in the loss, 0 to 1; the oracle has the rest.
    """

    system: TransitionSystem
    scorer: Scorer
    golds: Sequence[Gold]
    constraints: numpy.ndarray
    dropout: float
    teachers: Callable[[], Sequence[Scorer]] = tuple
    weight: float = 0.0
