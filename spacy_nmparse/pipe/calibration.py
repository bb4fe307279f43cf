"""Calibration: temperatures by which confidences say how often the parser is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy
from spacy.training import Example

from spacy_nmparse.pipe.annotations import Parses
from spacy_nmparse.pipe.confidence import calibrated, calibrated_row, log_odds
from spacy_nmparse.pipe.doc_io import gold_parse
from spacy_nmparse.pipe.roots import name_roots

N_BINS = 10


class Calibration(NamedTuple):
    """The result of ``TransitionParser.calibrate``.

    Attributes:
        temperature: of the confidences in heads, or in heads and labels; above 1: less sure.
        before: expected calibration error on the examples without it.
        after: the same with it.
    """

    temperature: float
    before: float
    after: float


class Comparison(NamedTuple):
    """Confidences in words with a known head and label, and whether the parser was right.

    Attributes:
        said: (2, words): the confidence in the head, and in head and label.
        right: float64 (2, words): 1 where the head is right, and where head and label are.
    """

    said: numpy.ndarray
    right: numpy.ndarray


def compare(
    examples: Sequence[Example], parses: Parses, labels: Sequence[str]
) -> Comparison | None:
    """Compare parses of the predicted documents, with their ``probabilities``, with gold trees.

    Args:
        examples: the examples.
        parses: of their predicted documents.
        labels: the parser's labels.

    Returns:
        What was found; None: no word has a known head and label.
    """
    said: list[numpy.ndarray] = []
    right: list[tuple[bool, bool]] = []
    for example, parse in zip(examples, parses.by_document(), strict=True):
        gold_heads, gold_labels, _ = gold_parse(example)
        gold_labels = name_roots(example, gold_heads, gold_labels)
        probabilities: Any = parse.probabilities
        found = calibrated(probabilities, (1.0, 1.0))
        tokens, arcs = parse.tokens, parse.arcs
        for word, token in enumerate(tokens.tolist()):
            head, label = int(tokens[arcs.heads[word]]), labels[arcs.labels[word]]
            if gold_heads[token] is None or not gold_labels[token]:
                continue
            same = gold_heads[token] == head
            right.append((same, same and gold_labels[token] == label))
            said.append(found[:, word])
    if not right:
        return None
    return Comparison(numpy.stack(said, axis=1), numpy.asarray(right, dtype="float64").T)


def fit(found: Comparison) -> dict[str, Calibration]:
    """Fit the temperatures of the confidences in the "head", and in head and "label"."""
    said, right = found
    fitted = (fit_temperature(said[0], right[0]), fit_temperature(said[1], right[1]))
    after = [calibrated_row(said[row], fitted[row]) for row in (0, 1)]
    after[1] = numpy.minimum(*after)
    return {
        name: Calibration(
            fitted[row],
            calibration_error(said[row], right[row]),
            calibration_error(after[row], right[row]),
        )
        for row, name in enumerate(("head", "label"))
    }


def fit_temperature(probabilities: numpy.ndarray, right: numpy.ndarray) -> float:
    """The temperature by which what is right is likeliest."""
    odds = log_odds(probabilities)
    low, high = 0.01, 20.0  # of 1 / temperature: the slope of the loss rises with it
    for _ in range(60):
        middle = (low + high) / 2
        slope = (odds * (1 / (1 + numpy.exp(-middle * odds)) - right)).sum()
        low, high = (middle, high) if slope < 0 else (low, middle)
    return float(2 / (low + high))


def calibration_error(probabilities: numpy.ndarray, right: numpy.ndarray) -> float:
    """Expected calibration error: the mean difference, over ten equal bins of confidence, between
    what is right and what was said to be."""
    bins = numpy.minimum((probabilities * N_BINS).astype(int), N_BINS - 1)
    gaps = numpy.bincount(bins, probabilities - right, N_BINS)
    return float(numpy.abs(gaps).sum() / max(1, len(probabilities)))
