"""Words of which the tokenizer makes several tokens, which the parser joins (see ``ud.pieces``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy
from spacy.tokens import Doc

from spacy_nmparse.pipe.annotations import GIVEN, SPACE_LABEL
from spacy_nmparse.pipe.confidence import KEY, confidences
from spacy_nmparse.pipe.doc_io import note_tokens
from spacy_nmparse.pipe.known import NAME
from spacy_nmparse.pipe.roots import EXTENSION
from spacy_nmparse.pipe.spans import read_groups, write_groups

#: The labels of a piece that is not the last one of its word: without a space behind it, with one.
SUBTOK, SPACED = "subtok", "subtok:spaced"
#: Extensions that tell of an arc: those of a word are on its last piece.
OF_ARCS = (EXTENSION, NAME)


def joins_of(doc: Doc) -> numpy.ndarray:
    """Which tokens of a document are joined to the next one, bool (tokens,)."""
    labels, spaces = _labelled(doc)
    joins = labels[0] & ~spaces | labels[1] & spaces
    joins[-1:] = False
    return joins


def _labelled(doc: Doc) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Which tokens have which label, bool (2, tokens), and behind which is a space."""
    fields: Any = doc.to_array(["DEP", "SPACY"])
    labels = [doc.vocab.strings[label] for label in (SUBTOK, SPACED)]
    return numpy.stack([fields[:, 0] == label for label in labels]), fields[:, 1] != 0


def join_subtokens(docs: Iterable[Doc]) -> None:
    """Make one token of each token that is labelled as a piece, those labelled so behind it, and
    the next one. It has the annotation of the last of them. Where words are given none are joined,
    and the label becomes ``dep``; so it does where a space is not as the label says."""
    for doc in docs:
        labelled = _labelled(doc)[0].any(axis=0)
        if not labelled.any():
            continue
        joins = joins_of(doc)
        joins &= GIVEN not in doc.user_data
        for i in (labelled & ~joins).nonzero()[0].tolist():
            doc[i].dep_ = SPACE_LABEL
        if not joins.any():
            continue
        sure = confidences(doc)
        data: Any = doc.user_data
        last = (~joins).nonzero()[0]
        first = numpy.concatenate(([0], last[:-1] + 1))
        runs = numpy.stack((first, last), axis=1)[last > first].tolist()
        spans = [doc[i : j + 1] for i, j in runs]
        groups = read_groups(doc)
        with doc.retokenize() as retokenizer:
            for span in spans:
                for name in OF_ARCS:
                    if (key := ("._.", name, span[-1].idx, None)) in data:
                        data["._.", name, span[0].idx, None] = data.pop(key)
                retokenizer.merge(span, attrs={"DEP": span[-1].dep})  # type: ignore[dict-item]
        write_groups(doc, groups)  # spaCy leaves them at the old tokens' numbers
        if sure is not None:
            data[KEY] = numpy.ascontiguousarray(sure[:, last]).tobytes()
            note_tokens(doc)
