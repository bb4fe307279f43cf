"""How sure the parser is of a word's head and label: kept with the Doc, read from its tokens."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy
from spacy.tokens import Doc, Token

from spacy_nmparse.pipe.doc_io import has_noted_tokens, note_tokens
from spacy_nmparse.pipe.known import register_extension
from spacy_nmparse.pipe.settings import Kind, number_between

#: In ``doc.user_data``: bytes of a float32 array (2, tokens): confidence in the head, and in head
#: and label.
KEY = "spacy_nmparse.confidence"
LIMIT = 1e-4  # nothing is surer than 1 - LIMIT when a temperature is applied
TEMPERATURE = number_between(0.01, 1000.0)
#: For the confidence in the head, and in head and label.
TEMPERATURES = Kind(
    f"two numbers, each {TEMPERATURE.takes.removeprefix('a number ')}",
    lambda values: (
        isinstance(values, list | tuple) and len(values) == 2 and all(map(TEMPERATURE.fits, values))
    ),
    tuple,
)


def register_extensions() -> None:
    """Make ``token._.head_confidence`` and ``token._.dep_confidence``, unless they are there. They
    are None where no parser has left confidences. And ``token._.known_head``."""
    register_extension()
    for row, name in enumerate(("head_confidence", "dep_confidence")):
        if not Token.has_extension(name):
            Token.set_extension(name, getter=partial(_confidence, row))


def _confidence(row: int, token: Token) -> float | None:
    found = confidences(token.doc)
    return None if found is None else float(found[row, token.i])


def confidences(doc: Doc) -> numpy.ndarray | None:
    """The confidences of a document's tokens, float32 (2, tokens): in the head, and in head and
    label. None: no parser has left any."""
    data: Any = doc.user_data.get(KEY)
    if data is None:
        return None
    found = numpy.frombuffer(data, dtype="<f4").reshape(2, -1)
    return found if found.shape[1] == len(doc) and has_noted_tokens(doc) else None


def write_confidences(
    doc: Doc, tokens: numpy.ndarray, probabilities: numpy.ndarray, temperatures: tuple[float, float]
) -> None:
    """Keep the confidences with the document. Spaces, which are attached by rule, get 1.

    Args:
        doc: the document.
        tokens: which of its tokens are words.
        probabilities: float32 (2, words): those of the head, and of the label with that head.
        temperatures: for the confidence in the head, and in head and label.
    """
    found = numpy.ones((2, len(doc)), dtype="<f4")
    found[:, tokens] = calibrated(probabilities, temperatures)
    doc.user_data[KEY] = found.tobytes()
    note_tokens(doc)


def forget_confidences(docs: Iterable[Doc]) -> None:
    """Take away what an earlier parse has left with documents."""
    for doc in docs:
        if doc.user_data:
            doc.user_data.pop(KEY, None)


def calibrated(probabilities: numpy.ndarray, temperatures: tuple[float, float]) -> numpy.ndarray:
    """Confidences in the head, and in head and label, which are never higher."""
    joint = probabilities.copy()
    joint[1] *= probabilities[0]
    for row, temperature in enumerate(temperatures):
        joint[row] = calibrated_row(joint[row], temperature)
    joint[1] = numpy.minimum(joint[0], joint[1])
    return joint


def calibrated_row(probabilities: numpy.ndarray, temperature: float) -> numpy.ndarray:
    """Probabilities whose log odds are divided by the temperature."""
    if temperature == 1:
        return probabilities
    return 1 / (1 + numpy.exp(-log_odds(probabilities) / temperature))


def log_odds(probabilities: numpy.ndarray) -> numpy.ndarray:
    """Logarithms of the odds of probabilities, in double precision."""
    clipped = numpy.clip(probabilities.astype("float64"), LIMIT, 1 - LIMIT)
    return numpy.log(clipped) - numpy.log1p(-clipped)
