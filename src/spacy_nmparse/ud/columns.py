"""What the tokens of a document have for the columns of CoNLL-U, each string looked up once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import numpy
from spacy.attrs import DEP, HEAD, IDX, LEMMA, MORPH, ORTH, POS, SPACY, TAG
from spacy.parts_of_speech import NAMES
from spacy.tokens import Doc, MorphAnalysis

from spacy_nmparse.ud.conllu import EMPTY
from spacy_nmparse.ud.extensions import is_extension

T = TypeVar("T")
ATTRIBUTES = (ORTH, LEMMA, POS, TAG, MORPH, DEP, SPACY, HEAD, IDX)
FORMAT_SPACES = re.compile(r"[ \t\r\n]+")


class Columns:
    """The columns of a document.

    Attributes:
        texts: The text of each token.
        forms, lemmas, upos, xpos, feats, deprels: The columns of each token; ``_``: it has none.
        heads: The number of each token's head in the document; a root's is its own.
        is_space: Whether a token is spaces alone.
        gaps: The spaces behind each token, those that are tokens too.
        n_leading: How many tokens of spaces come before the first word.
        told: The tokens that have extensions (``spacy_nmparse.ud.extensions``).
    """

    def __init__(self, doc: Doc) -> None:
        strings, vocab = doc.vocab.strings, doc.vocab
        array: Any = doc.to_array(list(ATTRIBUTES)).reshape(len(doc), len(ATTRIBUTES))
        orths, lemmas, upos, xpos, feats, deprels, spaces, offsets, places = array.T
        self.texts = _each(orths, strings.__getitem__)
        self.is_space = _each(orths, lambda orth: strings[orth].isspace())
        self.forms = _each(orths, lambda orth: plain(strings[orth]) or EMPTY)
        self.lemmas = _each(lemmas, lambda lemma: plain(strings[lemma]) or EMPTY)
        self.upos = _each(upos, lambda tag: NAMES[tag] or EMPTY)
        self.xpos = _each(xpos, lambda tag: joined(strings[tag]) or EMPTY)
        self.feats = _each(feats, lambda key: features(MorphAnalysis.from_id(vocab, key)) or EMPTY)
        self.deprels = _each(deprels, lambda label: joined(strings[label]) or EMPTY)
        known = offsets.astype("int64") * (deprels != 0)  # as Token.head: without a label, its own
        self.heads: list[int] = (known + numpy.arange(len(doc))).tolist()
        self.gaps = [" " * space for space in spaces.tolist()]
        for i in range(len(doc) - 1, 0, -1):
            if self.is_space[i]:
                self.gaps[i - 1] += self.texts[i] + self.gaps[i]
        self.n_leading = [*self.is_space, False].index(False)
        told = {key[2] for key in doc.user_data if is_extension(key)}
        self.told = {i for i, place in enumerate(places.tolist()) if place in told}


def _each(values: numpy.ndarray, make: Callable[[int], T]) -> list[T]:
    """What is made of each value, once for equal ones."""
    numbers = values.tolist()
    made = {number: make(number) for number in set(numbers)}
    return [made[number] for number in numbers]


def plain(text: str) -> str:
    """A text without the spaces that columns cannot have; all others stay."""
    return FORMAT_SPACES.sub(" ", text).strip(" ")


def joined(text: str) -> str:
    """A text for a column that cannot have spaces at all."""
    return FORMAT_SPACES.sub("_", text)


def features(morph: MorphAnalysis) -> str:
    """FEATS in the order of Universal Dependencies, which is not spaCy's."""
    return joined("|".join(sorted(str(morph).split("|"), key=str.lower)))
