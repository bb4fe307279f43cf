"""Training data that show the parser their tags.

spaCy's reader gives a pipeline bare words, and the gold annotation apart from them. A scorer
that looks at tags (``scorers.linear_scorer``) needs them on the words: from a component before it,
or from the data.
"""

from __future__ import annotations

from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Corpus, Example


class TaggedCorpus(Corpus):
    """spaCy's ``Corpus``, but the words to be parsed have the tags of the data."""

    def _make_example(self, nlp: Language, reference: Doc, gold_preproc: bool) -> Example:
        example = super()._make_example(nlp, reference, gold_preproc)
        if [token.text for token in example.predicted] == [token.text for token in reference]:
            copy_tags(reference, example.predicted)
        return example


def copy_tags(source: Doc, target: Doc) -> None:
    """Give a document the tags of another one with the same tokens; where that has none, its parts
    of speech."""
    attribute = "TAG" if source.has_annotation("TAG") else "POS"
    tags: Any = source.to_array([attribute])
    target.from_array([attribute], tags)
