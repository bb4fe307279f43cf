"""What the tokens of documents have for the columns of CoNLL-U, each string looked up once."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy
from spacy.attrs import DEP, HEAD, IS_SPACE, LEMMA, MORPH, POS, TAG
from spacy.tokens import Doc

from spacy_nmparse.pipe.known import NAME
from spacy_nmparse.pipe.roots import EXTENSION, ROOT_LABEL, TREEBANK_ROOT
from spacy_nmparse.ud.conllu import EMPTY, depths
from spacy_nmparse.ud.extensions import told_of
from spacy_nmparse.ud.rows import joined, texts_of

ATTRIBUTES = (LEMMA, POS, TAG, MORPH, DEP, HEAD)


class Columns:
    """The columns of a document.

    Args:
        doc: The document.

    Attributes:
        lemmas, upos, xpos, feats, deprels: The columns of each token; ``_``: it has none.
        heads: The number of each token's head in the document; a root's is its own.
        is_space: Whether a token is spaces alone.
    """

    def __init__(self, doc: Doc) -> None:
        made = texts_of(doc.vocab)
        array: Any = doc.to_array(list(ATTRIBUTES)).reshape(len(doc), len(ATTRIBUTES))
        lemmas, upos, xpos, feats, deprels = array[:, :-1].T.tolist()
        self.is_space = doc.to_array(IS_SPACE).tolist()
        self.lemmas = made.forms.each(lemmas)
        self.upos = made.upos.each(upos)
        self.xpos = made.names.each(xpos)
        self.feats = made.feats.each(feats)
        self.deprels = made.names.each(deprels)
        labelled = array[:, ATTRIBUTES.index(DEP)] != 0  # others have their own, as Token.head
        offsets = array[:, -1].astype("int64") * labelled
        self.heads: list[int] = (offsets + numpy.arange(len(doc))).tolist()
        self._told = told_of(doc)

    def root_label(self, i: int) -> str:
        """The column DEPREL of a root."""
        own = self._told[i].get(EXTENSION) if self._told else None
        label = self.deprels[i]
        return joined(own or (TREEBANK_ROOT if label in (EMPTY, ROOT_LABEL) else label))

    def is_known(self, i: int) -> bool:
        """Whether the head of a token was known before it was parsed."""
        return bool(self._told and self._told[i].get(NAME))

    @cached_property
    def depths(self) -> list[int]:
        """How many arcs each token is below its root."""
        return depths(self.heads)
