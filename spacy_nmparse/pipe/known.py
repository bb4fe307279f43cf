"""Words whose heads were known before a parse: a mark at their place in the text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy
from spacy.tokens import Doc, Token

NAME = "known_head"


def register_extension() -> None:
    """Make ``token._.known_head``, unless it is there: whether the parser has kept the head and
    label that the token had before."""
    if not Token.has_extension(NAME):
        Token.set_extension(NAME, default=False)


def is_known(token: Token) -> bool:
    """The value of ``token._.known_head``."""
    data: Any = token.doc.user_data
    return bool(data.get(("._.", NAME, token.idx, None), False))


def write_known(doc: Doc, tokens: numpy.ndarray) -> None:
    """Mark these tokens of a document."""
    data: Any = doc.user_data
    places = doc.to_array("IDX")[tokens]
    data.update((("._.", NAME, place, None), True) for place in places.tolist())


def forget_known(docs: Iterable[Doc]) -> None:
    """Take away the marks that an earlier parse has left with documents."""
    for doc in docs:
        if doc.user_data:
            data: Any = doc.user_data
            for key in [key for key in data if key[1:2] == (NAME,)]:
                del data[key]
