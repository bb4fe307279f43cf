"""Multiword tokens of given words, for a pipeline that knows them in one piece.

A pipeline that was trained on multiword tokens in one piece has never seen their words as tokens.
So where its component ``multiword_tokens`` knows that a token stands for the words that are given,
it is one token while it is parsed. Then its words get the tree that they have in the training data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy
from spacy.attrs import LEMMA, MORPH, POS, TAG
from spacy.language import Language
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc, Span

from spacy_nmparse.layers.treebanks import copy_treebank
from spacy_nmparse.pipe.annotations import GIVEN, SPACE_LABEL, same_tokens
from spacy_nmparse.pipe.confidence import KEY, confidences
from spacy_nmparse.pipe.doc_io import (
    PRESET,
    note_tokens,
    preset_starts,
    set_heads,
    write_parses,
    write_tags,
)
from spacy_nmparse.pipe.roots import EXTENSION, ROOT_LABEL
from spacy_nmparse.ud.extensions import (
    BESIDE,
    EXTENSIONS,
    OWN,
    is_extension,
    ud_range,
    value_of,
)
from spacy_nmparse.ud.lookup import write_lemmas
from spacy_nmparse.ud.multiword import MultiwordTokens


def pipe_words(nlp: Language, docs: Iterable[Any], batch_size: int | None = None) -> Iterator[Doc]:
    """Parse documents.

    Args:
        nlp: The pipeline.
        docs: Texts, and documents of given words, which may have ``token._.ud_range`` and heads
            that are kept.
        batch_size: Documents of a batch; None: the pipeline's own.

    Yields:
        The parsed documents, with the words that were given.
    """
    components = (pipe for _, pipe in nlp.pipeline if isinstance(pipe, MultiwordTokens))
    component = next(components, None)
    pairs = ((doc, component and WholeTokens.of(doc, component)) for doc in docs)
    given = ((whole.doc if whole else doc, whole) for doc, whole in pairs)
    for doc, whole in nlp.pipe(given, as_tuples=True, batch_size=batch_size):
        yield whole.words_of(doc, nlp) if whole else doc


class WholeTokens:
    """A document of words in which multiword tokens are one token.

    Args:
        words: The document of words.
        spans: The words of each that is to be one token, and its form.
        component: Knows these words.

    Attributes:
        doc: The new document: words, spaces, sentence starts, and heads that are known.
    """

    def __init__(
        self, words: Doc, spans: dict[int, tuple[Span, str]], component: MultiwordTokens
    ) -> None:
        self._words, self._component = words, component
        is_first = numpy.ones(len(words), dtype=bool)
        for span, _ in spans.values():
            is_first[span.start + 1 : span.end] = False
        self._token_of = numpy.cumsum(is_first) - 1
        self._firsts = is_first.nonzero()[0]
        self._ends = numpy.append(self._firsts[1:], len(words))
        self._spans = {int(self._token_of[i]): span for i, (span, _) in spans.items()}
        firsts, lasts = self._firsts.tolist(), (self._ends - 1).tolist()
        starts: Any = preset_starts(words)[firsts].tolist()
        self.doc = Doc(
            words.vocab,
            [spans[i][1] if i in spans else words[i].text for i in firsts],
            [bool(words[i].whitespace_) for i in lasts],
            sent_starts=starts,
        )
        data: Any = self.doc.user_data
        data[GIVEN] = True
        copy_treebank(words, self.doc)
        if any(word.dep for word in words):
            self._keep_heads(firsts)

    @classmethod
    def of(cls, doc: Any, component: MultiwordTokens) -> WholeTokens | None:
        """None where a document is a text, or has no multiword token with words that the component
        knows and no known heads."""
        spans = {}
        for token in doc if isinstance(doc, Doc) and doc.user_data else ():
            if (told := ud_range(token)) is not None:
                form, n, _ = told
                span = doc[token.i : token.i + n]
                forms = [word.text for word in span]
                if component.words_of(form, "", forms) and not any(word.dep for word in span):
                    spans[token.i] = span, form
        return cls(doc, spans, component) if spans else None

    def _keep_heads(self, firsts: list[int]) -> None:
        """Give the new document the heads that the words have."""
        known = same_tokens(self.doc)
        fields = numpy.zeros((len(firsts), 2), dtype="int64")
        labels = numpy.zeros(len(firsts), dtype="uint64")
        data: Any = known.user_data
        for i, first in enumerate(firsts):
            word = self._words[first]
            if word.dep:
                fields[i, 0] = self._token_of[word.head.i] - i
                labels[i] = word.dep
                if root := value_of(word, EXTENSION):
                    data["._.", EXTENSION, known[i].idx, None] = root
        heads: Any = fields.astype("uint64")
        heads[:, 1] = labels
        known.from_array(["HEAD", "DEP"], heads)
        set_heads(self.doc, known)

    def words_of(self, doc: Doc, nlp: Language) -> Doc:
        """The document of words with what the pipeline says.

        Args:
            doc: The new document, parsed.
            nlp: The pipeline: it parses the words themselves where it has merged or split tokens.
        """
        words = self._words
        if len(doc) != len(self.doc):
            return nlp(words)
        strings = words.vocab.strings
        token_of, tops = self._token_of, self._firsts.copy()
        told = {}
        for i, span in self._spans.items():
            told[i] = self._component.split(doc[i], [word.text for word in span])
            tops[i] += [one.head for one in told[i]].index(OWN)
        above = tops[[token.head.i for token in doc]]
        heads = above[token_of]
        labels = [doc[int(i)].dep_ for i in token_of]
        fields = doc.to_array([POS, TAG, MORPH])[token_of]
        lemmas = doc.to_array(LEMMA)[token_of]
        for i, own in told.items():
            first = int(self._firsts[i])
            for place, one in enumerate(own, start=first):
                feats = words.vocab.morphology.add(one.feats) if one.feats else 0
                fields[place] = IDS[one.upos], strings.add(one.xpos) if one.xpos else 0, feats
                lemmas[place] = strings.add(one.lemma)
                if one.head != OWN:
                    heads[place] = above[i] if one.head == BESIDE else first + one.head
                    labels[place] = one.deprel
        for word in words:
            if word.dep:
                heads[word.i], labels[word.i] = word.head.i, word.dep_
        starts = numpy.zeros(len(words), dtype="int8")
        starts[self._firsts] = [bool(token.is_sent_start) for token in doc]
        places = numpy.arange(len(words), dtype="int32")
        names = sorted({*labels})
        if doc.has_annotation("DEP"):
            write_parses(
                [words],
                numpy.asarray([len(words)], dtype="int32"),
                places,
                heads.astype("int32"),
                numpy.asarray([names.index(label) for label in labels], dtype="int32"),
                starts,
                [*names, ROOT_LABEL, SPACE_LABEL],
            )
        elif doc.has_annotation("SENT_START"):
            for word, start in zip(words, starts.tolist(), strict=True):
                word.is_sent_start = bool(start)
        write_tags(words, places, numpy.ascontiguousarray(fields))
        write_lemmas(words, lemmas)
        self._copy_others(doc, tops.tolist())
        return words

    def _copy_others(self, doc: Doc, tops: list[int]) -> None:
        """Give the words confidences, extensions, entities, groups of spans and categories."""
        words = self._words
        data: Any = words.user_data
        places = {token.idx: words[top].idx for token, top in zip(doc, tops, strict=True)}
        for key, value in doc.user_data.items():
            if is_extension(key) and key[3] is None and key[1] not in EXTENSIONS and key != PRESET:
                data[(*key[:2], places[key[2]], None)] = value
        note_tokens(words)
        if (sure := confidences(doc)) is not None:
            data[KEY] = numpy.ascontiguousarray(sure[:, self._token_of]).tobytes()

        def moved(span: Span) -> Span:
            start, end = int(self._firsts[span.start]), int(self._ends[span.end - 1])
            return Span(words, start, end, span.label, kb_id=span.kb_id, span_id=span.id)

        if doc.has_annotation("ENT_IOB"):
            words.set_ents([moved(span) for span in doc.ents], default="outside")
        for name, group in doc.spans.items():
            words.spans[name] = [moved(span) for span in group]
        words.cats = dict(doc.cats)
