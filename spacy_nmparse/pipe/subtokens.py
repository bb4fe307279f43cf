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

#: The label of a piece that is not the last one of its word, as in spaCy.
SUBTOK = "subtok"
#: Extensions that tell of an arc: those of a word are on its last piece.
OF_ARCS = (EXTENSION, NAME)


def join_subtokens(docs: Iterable[Doc]) -> None:
    """Make one token of each token that is labelled ``subtok``, those labelled so behind it, and
    the next one. It has the annotation of the last of them. Where words are given none are joined,
    and the label becomes ``dep``."""
    for doc in docs:
        joins: Any = doc.to_array("DEP") == doc.vocab.strings[SUBTOK]
        if not joins.any():
            continue
        stay = joins.copy()
        stay[:-1] &= GIVEN in doc.user_data
        for i in stay.nonzero()[0].tolist():
            doc[i].dep_ = SPACE_LABEL
        joins &= ~stay
        sure = confidences(doc)
        data: Any = doc.user_data
        last = (~joins).nonzero()[0]
        first = numpy.concatenate(([0], last[:-1] + 1))
        runs = numpy.stack((first, last), axis=1)[last > first].tolist()
        spans = [doc[i : j + 1] for i, j in runs]
        with doc.retokenize() as retokenizer:
            for span in spans:
                for name in OF_ARCS:
                    if (key := ("._.", name, span[-1].idx, None)) in data:
                        data["._.", name, span[0].idx, None] = data.pop(key)
                retokenizer.merge(span)
        if sure is not None:
            data[KEY] = numpy.ascontiguousarray(sure[:, last]).tobytes()
            note_tokens(doc)
