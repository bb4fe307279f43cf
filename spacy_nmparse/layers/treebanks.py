"""Vectors of treebanks, which are added to the vectors of the words of their documents.

Treebanks of a language differ in their texts and in how they are annotated. By a vector for each
(Stymne et al. 2018) a network that learns from several can tell them apart. The first treebank has
no vector and no name: documents without a name belong to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Model

from spacy_nmparse.layers.seen_words import SEEN

#: Of ``doc._.ud_treebank``, the name of the treebank that a document is of, in ``doc.user_data``.
EXTENSION = "ud_treebank"
KEY = ("._.", EXTENSION, None, None)
#: Name of the vectors, a parameter, and of the treebanks' names, an attribute.
NAME = "treebanks"
MOST = 31  # treebanks besides the first


def register_extension() -> None:
    """Make ``doc._.ud_treebank``, unless it is there."""
    if not Doc.has_extension(EXTENSION):
        Doc.set_extension(EXTENSION, default=None)


def treebank_of(doc: Doc) -> str:
    """The name of a document's treebank; empty: the first one."""
    data: Any = doc.user_data
    return str(data.get(KEY) or "")


def set_treebank(doc: Doc, name: str) -> Doc:
    """Let a document be of a treebank; empty: it stays as it is. Returns the document."""
    if name:
        data: Any = doc.user_data
        data[KEY] = name
    return doc


def copy_treebank(source: Doc, target: Doc) -> None:
    """Let a document be of the treebank that another one is of."""
    set_treebank(target, treebank_of(source))


def names_in(nlp: Language) -> set[str] | None:
    """The names of the treebanks that a pipeline knows; None: no component has vectors of them."""
    models = [getattr(pipe, "model", None) for _, pipe in nlp.components]
    nodes = (node for one in models if isinstance(one, Model) for node in one.walk())
    found = [node.attrs[NAME] for node in nodes if NAME in node.attrs]
    return {name for names in found for name in names} if found else None


def init(model: Model) -> None:
    """Make the vectors, zeros, float32 (MOST, nO)."""
    model.set_param(NAME, model.ops.alloc2f(MOST, model.get_dim("nO")))


def check(names: Any) -> None:
    """Raise ValueError where these are no names of treebanks."""
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise ValueError(f"the {NAME} {names!r:.80} are not different names")
    if len(names) > MOST:
        raise ValueError(f"the {NAME} are more than {MOST}")


def rows_of(model: Model, docs: Sequence[Doc], is_train: bool) -> list[int]:
    """The row of each document's treebank; -1: it is of the first one. Training gives new names
    the next rows. Before training there are none.

    Raises:
        ValueError: training has not seen the treebank, or there are more than MOST.
    """
    known = model.attrs[NAME]
    found = []
    for name in map(treebank_of, docs):
        if name and name not in known:
            if not is_train and len(model.attrs[SEEN]):
                others = ", ".join(map(repr, known)) or "none"
                raise ValueError(
                    f"doc._.{EXTENSION} is {name!r}, which the pipeline has not learned from. "
                    f"It is unset for the first treebank; others: {others}."
                )
            if len(known) == MOST:
                raise ValueError(f"A pipeline learns from at most {MOST + 1} treebanks.")
            if is_train:
                known.append(name)
        found.append(known.index(name) if name in known else -1)
    return found


def add(model: Model, parts: Sequence[Any], rows: Sequence[int]) -> list[Any]:
    """Add the treebanks' vectors to those of the documents' words, float32 (words, nO) each."""
    vectors = model.get_param(NAME)
    pairs = zip(parts, rows, strict=True)
    return [part + vectors[row] if row >= 0 else part for part, row in pairs]


def backprop(model: Model, d_parts: Sequence[Any], rows: Sequence[int]) -> None:
    """Add to the gradient of the treebanks' vectors."""
    gradient = model.ops.alloc2f(*model.get_param(NAME).shape)
    for d_part, row in zip(d_parts, rows, strict=True):
        if row >= 0:
            gradient[row] += d_part.sum(axis=0)
    model.inc_grad(NAME, gradient)
