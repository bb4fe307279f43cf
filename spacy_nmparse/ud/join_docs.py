"""Documents that were parsed in parts, as one document again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from spacy.attrs import SENT_START
from spacy.tokens import Doc

from spacy_nmparse.pipe.confidence import KEY, confidences
from spacy_nmparse.pipe.doc_io import PRESET, TOKENS, note_tokens
from spacy_nmparse.ud.docs_conllu import ROWS
from spacy_nmparse.ud.extensions import is_extension


def join_docs(docs: Sequence[Doc]) -> Doc:
    """Make one document of several that follow each other in a text.

    Its tokens have the annotation, sentences, extensions and confidences that they have in the
    parts. What is said of a whole document is what the first part that says it says.

    Args:
        docs: The parts, at least one, of one vocabulary.
    """
    if len(docs) == 1:
        return docs[0]
    joins: Any = Doc.from_docs
    whole = joins(list(docs), ensure_whitespace=False, exclude=("tensor", "user_data"))
    # from_docs takes sentence starts from the heads, which may be unknown.
    starts = numpy.concatenate([doc.to_array([SENT_START]) for doc in docs])
    whole.from_array([SENT_START], starts.reshape(-1, 1))
    n_letters = 0
    for doc in docs:
        data: dict[Any, Any] = doc.user_data
        for key, value in data.items():
            if is_extension(key) and key[2] is not None:
                end = None if key[3] is None else key[3] + n_letters
                key = (*key[:2], key[2] + n_letters, end)
            if key[:2] not in (PRESET[:2], TOKENS[:2]):
                whole.user_data.setdefault(key, value)
        n_letters += len(doc.text)
        whole.cats = whole.cats or doc.cats
    if found := _of_all_tokens(docs):
        whole.user_data.update(found)
        note_tokens(whole)
    return whole


def _of_all_tokens(docs: Sequence[Doc]) -> dict[Any, Any]:
    """The entries of ``user_data`` that are arrays or lists over a whole document."""
    found: dict[Any, Any] = {}
    data: list[dict[Any, Any]] = [doc.user_data for doc in docs]
    if any(PRESET in one for one in data):
        starts = (one.get(PRESET, bytes(len(doc))) for doc, one in zip(docs, data, strict=True))
        found[PRESET] = b"".join(starts)
    sure = [confidences(doc) for doc in docs]
    if any(one is not None for one in sure):
        filled = [
            numpy.zeros((2, len(doc)), "<f4") if one is None else one
            for doc, one in zip(docs, sure, strict=True)
        ]
        found[KEY] = numpy.concatenate(filled, axis=1).tobytes()
    if any(ROWS in one for one in data):
        found[ROWS] = [sentence for one in data for sentence in one.get(ROWS, ())]
    return found
