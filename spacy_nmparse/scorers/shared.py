"""Parts that the Thinc models of all scorers share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy
from spacy.tokens import Doc
from thinc.api import Model

from spacy_nmparse.scorers.tags import GoldTags
from spacy_nmparse.systems import TransitionSystem


@dataclass
class ScorerInput:
    """Documents with the positions of the tokens that are parsed (spaces are not).

    rows: for each parsed word its row among all tokens of the documents; None: every token.
    lengths: int32, words of each stretch that surely begins and ends a sentence; None: documents
        are such stretches.
    tags: what the words' tags are, in training; None: nothing is learned of them.
    wants_tags: whether tags are to be scored.
    """

    docs: list[Doc]
    rows: numpy.ndarray | None = None
    lengths: numpy.ndarray | None = None
    tags: GoldTags | None = None
    wants_tags: bool = False

    @classmethod
    def of(cls, X: ScorerInput | list[Doc]) -> ScorerInput:
        """The input of a model. Of documents, which spaCy's own models take, all tokens are
        words."""
        return X if isinstance(X, ScorerInput) else cls(X)


@dataclass
class Gradients:
    """Gradients of a batch, as a rollout collects them.

    word_rows: float32 (words, slots of all layers * pieces * width).
    items: float32 (words, 2, arc width), of the words as heads and as dependents; None: the
        scorer has no P(head | word).
    weights: of each of the weights by name.
    """

    word_rows: numpy.ndarray
    items: numpy.ndarray | None
    weights: dict[str, numpy.ndarray]


def set_system(model: Model, system: TransitionSystem) -> None:
    """Tell the scorer which system's moves and labels it scores (before it is initialized)."""
    model.attrs["system"] = _SystemRef(system)


class _SystemRef:
    """Holds the system among the model's attributes without being serialized with them."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system


def recurrent_layers(model: Model) -> list[Model]:
    """The recurrent layers of a scorer, the lowest first."""
    return [layer for layer in model.layers if layer.name == "nmparse_bisru"]
