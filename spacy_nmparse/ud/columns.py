"""What the tokens of documents have for the columns of CoNLL-U, each string looked up once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy
from spacy.attrs import DEP, HEAD, IDX, LEMMA, MORPH, ORTH, POS, SPACY, TAG
from spacy.parts_of_speech import NAMES
from spacy.tokens import Doc, MorphAnalysis
from spacy.vocab import Vocab

from spacy_nmparse.pipe.roots import EXTENSION, ROOT_LABEL, TREEBANK_ROOT
from spacy_nmparse.ud.conllu import EMPTY, depths
from spacy_nmparse.ud.extensions import is_extension

T = TypeVar("T")
ATTRIBUTES = (ORTH, LEMMA, POS, TAG, MORPH, DEP, SPACY, IDX, HEAD)
FORMAT_SPACES = re.compile(r"[ \t\r\n]+")


class Made(dict[int, T]):
    """What `make` makes of numbers: for each number it is called once."""

    def __init__(self, make: Callable[[int], T]) -> None:
        self._make = make

    def __missing__(self, number: int) -> T:
        made = self[number] = self._make(number)
        return made

    def each(self, numbers: list[int]) -> list[T]:
        """What is made of each of these numbers."""
        return list(map(self.__getitem__, numbers))


class Texts:
    """The texts of columns, by the numbers that a vocabulary has for strings. They are kept from
    one document to the next."""

    def __init__(self, vocab: Vocab) -> None:
        strings = vocab.strings
        self.vocab = vocab
        self.texts = Made(strings.__getitem__)
        self.forms = Made(lambda orth: plain(strings[orth]) or EMPTY)
        self.upos = Made(lambda tag: NAMES[tag] or EMPTY)
        self.names = Made(lambda number: joined(strings[number]) or EMPTY)
        self.feats = Made(lambda key: features(MorphAnalysis.from_id(vocab, key)) or EMPTY)


class Columns:
    """The columns of a document.

    Args:
        doc: The document.
        made: Texts of the documents before; those of another vocabulary are not used.

    Attributes:
        texts: The text of each token.
        forms, lemmas, upos, xpos, feats, deprels: The columns of each token; ``_``: it has none.
        heads: The number of each token's head in the document; a root's is its own.
        is_space: Whether a token is spaces alone.
        gaps: The spaces behind each token, those that are tokens too.
        n_leading: How many tokens of spaces come before the first word.
        told: The tokens that have extensions (``spacy_nmparse.ud.extensions``).
    """

    def __init__(self, doc: Doc, made: Texts | None = None) -> None:
        if made is None or made.vocab is not doc.vocab:
            made = Texts(doc.vocab)
        array: Any = doc.to_array(list(ATTRIBUTES)).reshape(len(doc), len(ATTRIBUTES))
        orths, lemmas, upos, xpos, feats, deprels, spaces, places = array[:, :-1].T.tolist()
        self.texts = made.texts.each(orths)
        self.is_space = list(map(str.isspace, self.texts))
        self.forms = made.forms.each(orths)
        self.lemmas = made.forms.each(lemmas)
        self.upos = made.upos.each(upos)
        self.xpos = made.names.each(xpos)
        self.feats = made.feats.each(feats)
        self.deprels = made.names.each(deprels)
        labelled = array[:, ATTRIBUTES.index(DEP)] != 0  # others have their own, as Token.head
        offsets = array[:, -1].astype("int64") * labelled
        self.heads: list[int] = (offsets + numpy.arange(len(doc))).tolist()
        self.gaps = [" " * space for space in spaces]
        for i in range(len(doc) - 1, 0, -1):
            if self.is_space[i]:
                self.gaps[i - 1] += self.texts[i] + self.gaps[i]
        self.n_leading = [*self.is_space, False].index(False)
        data: dict[Any, Any] = doc.user_data
        told = {key[2] for key in data if is_extension(key)}
        roots = {key[2]: data[key] for key in data if is_extension(key) and key[1] == EXTENSION}
        self.told = {i for i, place in enumerate(places) if place in told}
        self._roots = {i: roots[places[i]] for i in self.told if places[i] in roots}

    def root_label(self, i: int) -> str:
        """The column DEPREL of a root."""
        label = self.deprels[i]
        return self._roots.get(i) or (TREEBANK_ROOT if label in (EMPTY, ROOT_LABEL) else label)

    @cached_property
    def depths(self) -> list[int]:
        """How many arcs each token is below its root."""
        return depths(self.heads)


def plain(text: str) -> str:
    """A text without the spaces that columns cannot have; all others stay."""
    return FORMAT_SPACES.sub(" ", text).strip(" ")


def joined(text: str) -> str:
    """A text for a column that cannot have spaces at all."""
    return FORMAT_SPACES.sub("_", text)


def features(morph: MorphAnalysis) -> str:
    """FEATS in the order of Universal Dependencies, which is not spaCy's."""
    return joined("|".join(sorted(str(morph).split("|"), key=str.lower)))
