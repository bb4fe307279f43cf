"""Facts of tokens that a state scorer can look at: installed packages bring them.

An entry point of the group ``spacy_nmparse_features`` names a ``TokenFact``; with the name
``shape``, the features ``S0.shape``, ``B0.l1.shape`` and so on are facts of the words S0, B0.l1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from spacy.tokens import Doc

from spacy_nmparse.scorers.shared import ScorerInput


@dataclass(frozen=True)
class TokenFact:
    """A fact of tokens.

    Attributes:
        n_values: How many values it has.
        values: Gives the value of each token of a document, 0 to n_values - 1.
        looks_at_tags: Whether it depends on tags that another component has set.
    """

    n_values: int
    values: Callable[[Doc], Sequence[int]]
    looks_at_tags: bool = False


def token_values(facts: dict[str, TokenFact], X: ScorerInput) -> numpy.ndarray | None:
    """The values of all facts: int32 (facts, words of the batch); None: there are no facts.

    Raises:
        ValueError: a fact does not have one value for each token, or one that is out of range.
    """
    if not facts:
        return None
    rows = [_values(name, fact, X.docs) for name, fact in facts.items()]
    found = numpy.stack(rows)
    return numpy.ascontiguousarray(found if X.rows is None else found[:, X.rows])


def _values(name: str, fact: TokenFact, docs: Sequence[Doc]) -> Any:
    found = [numpy.asarray(fact.values(doc), dtype="int32") for doc in docs]
    for doc, values in zip(docs, found, strict=True):
        if values.shape != (len(doc),):
            raise ValueError(
                f"The fact {name!r} has values of the shape {values.shape} for {len(doc)} tokens."
            )
        if len(doc) and not 0 <= values.min() <= values.max() < fact.n_values:
            raise ValueError(
                f"The fact {name!r} has values from {values.min()} to {values.max()}, not from 0 "
                f"to {fact.n_values - 1}."
            )
    return numpy.concatenate([numpy.zeros(0, "int32"), *found])
