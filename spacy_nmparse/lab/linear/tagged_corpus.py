"""The reader of training data for the linear scorer (``@readers``)."""

from __future__ import annotations

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_nmparse.pipe.annotations import copy_tags
from spacy_nmparse.ud.readers import Corpus


class TaggedCorpus(Corpus):
    """A corpus whose words to be parsed have the tags of the data, for a scorer that looks at tags
    (``lab.linear``)."""

    def example(self, nlp: Language, reference: Doc) -> Example:
        """The same, with tags."""
        example = super().example(nlp, reference)
        if [token.text for token in example.predicted] == [token.text for token in reference]:
            copy_tags(reference, example.predicted)
        return example
