"""Training data with copies of its documents in which words or phrases give way to others of the
same kind, and sentences have other neighbours.

Gulordava et al. 2018, *Colorless green recurrent networks dream hierarchically*, for the sentences;
Vania et al. 2019, *A systematic comparison of methods for low-resource dependency parsing on
genuinely low-resource languages*, for parsers of small treebanks that learn from them; Shi, Livescu
& Gimpel 2021, *Substructure substitution: structured data augmentation for NLP*, for phrases.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from spacy.tokens import Doc, Span, Token
from spacy.training import Corpus
from spacy.vocab import Vocab

from spacy_nmparse.pipe.ud_tokens import in_multiword_tokens, multiword_ranges

#: What a word and those that may take its place have in common.
KIND = ("POS", "TAG", "MORPH")
#: What a copy takes over from the document, with the spaces.
KEPT = (*KIND, "DEP", "HEAD", "SENT_START", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID", "LEMMA")
HEAD, SENT_START = KEPT.index("HEAD"), KEPT.index("SENT_START")

Kind = tuple[int, ...]
#: By kind, the different words and their lemmas, in the order of the data.
Words = dict[Kind, list[tuple[str, int]]]


class Phrase(NamedTuple):
    """A word that is no root, with all that is below it, where no other word stands between.

    Attributes:
        doc: The document.
        head: The word.
        first: The first word of the phrase.
        end: The word behind its last.
    """

    doc: Doc
    head: int
    first: int
    end: int

    @property
    def kind(self) -> Kind:
        """What phrases that may take each other's place have in common."""
        head = self.doc[self.head]
        morph = head.morph.key  # type: ignore[attr-defined]
        return (head.pos, head.tag, morph, head.dep, int(head.head.i > head.i))

    @property
    def begins_sentence(self) -> bool:
        """Whether its first word begins a sentence with a capital."""
        first = self.doc[self.first]
        return _begins_sentence(first) and first.text[:1].isupper()


#: Phrases by kind, in the order of the data.
Phrases = dict[Kind, list[Phrase]]


class NonceCorpus(Corpus):
    """spaCy's ``Corpus``, its documents followed by copies: with exchanged words or phrases, and
    with the sentences in other documents.

    A word of an open class is exchanged with the probability ``level`` for one drawn from all words
    of the data that share its part of speech, tag and morphological features, and takes on its
    lemma. What else is annotated stays: trees, tags, sentences, entities. Multiword tokens and
    their words (see ``pipe.ud_tokens``) are not exchanged.

    A phrase whose head is of an open class is exchanged, before words are, with the probability
    ``phrases`` for one drawn from all phrases of the data whose heads share these and the label,
    and stand on the same side of what they hang on. It brings its annotation along. Groups of spans
    are lost. The draws are of Python's ``random``, which training seeds.

    Extensions of tokens stay with the tokens; those of exchanged words and of spans are lost.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        copies: int,
        level: float,
        pos: Sequence[str],
        regroup: bool,
        phrases: float = 0.0,
        **options: Any,
    ) -> None:
        """Name the data.

        Args:
            path: The .spacy file, or a folder of them.
            copies: How often each document is copied; 0: never, as spaCy's own reader.
            level: Share of the words of open classes that a copy exchanges, from 0 to 1.
            pos: The open classes, as UPOS tags.
            regroup: Whether each copy is of documents made of the sentences in random order.
            phrases: Share of the phrases that a copy exchanges, from 0 to 1: of those that are no
                part of one that it exchanges.
            options: Those of ``Corpus``.

        Raises:
            ValueError: copies below 0, or a level or phrases that is no share.
        """
        if copies < 0 or not (0 <= level <= 1 and 0 <= phrases <= 1):
            raise ValueError(
                f"NonceCorpus: copies {copies} must be at least 0, level {level} and phrases "
                f"{phrases} from 0 to 1."
            )
        super().__init__(path, **options)
        self.copies = copies
        self.level = level
        self.pos = frozenset(pos)
        self.regroup = regroup
        self.phrases = phrases

    def read_docbin(self, vocab: Vocab, locs: Iterable[str | Path]) -> Iterator[Doc]:
        """Read the documents, then make the copies.

        Args:
            vocab: The pipeline's.
            locs: The .spacy files.

        Raises:
            ValueError: There are words to exchange, and none is of an open class.
        """
        if not self.copies:
            yield from super().read_docbin(vocab, locs)
            return
        docs = list(super().read_docbin(vocab, locs))
        yield from docs
        words = self.collect(docs) if self.level else {}
        phrases = self.collect_phrases(docs) if self.phrases else {}
        for _ in range(self.copies):
            for doc in mix(docs) if self.regroup else docs:
                copy = self.exchange_phrases(doc, phrases) if self.phrases else doc
                yield self.exchange(copy, words) if self.level else copy

    def collect(self, docs: Sequence[Doc]) -> Words:
        """Collect the words of open classes. Those that may owe their capital to the beginning of a
        sentence, and those of multiword tokens, are left out.

        Raises:
            ValueError: There are none.
        """
        found: dict[Kind, dict[tuple[str, int], None]] = {}
        any_open = False
        for doc in docs:
            kinds: Any = doc.to_array(list(KIND)).tolist()
            multiword = in_multiword_tokens(doc)
            for token, kind in zip(doc, kinds, strict=True):
                if token.pos_ not in self.pos:
                    continue
                any_open = True
                capital = _begins_sentence(token) and token.text[:1].isupper()
                if not capital and token.i not in multiword:
                    found.setdefault(tuple(kind), {})[token.text, token.lemma] = None
        if docs and not any_open:
            raise ValueError(
                f"NonceCorpus: no word of {self.path} has one of the parts of speech "
                f"{', '.join(sorted(self.pos))}, so there are none to exchange: annotate them, "
                f"name others as pos, or set level = 0."
            )
        return {kind: list(words) for kind, words in found.items()}

    def exchange(self, doc: Doc, words: Words) -> Doc:
        """Copy a document, words exchanged for others of the same kind."""
        array: Any = doc.to_array(list(KEPT))
        texts = [token.text for token in doc]
        stays = in_multiword_tokens(doc)
        origins: list[Token | None] = list(doc)
        for token in doc:
            choice = words.get(tuple(array[token.i, : len(KIND)].tolist()))
            if token.pos_ not in self.pos or choice is None or token.i in stays:
                continue
            if random.random() >= self.level:
                continue
            text, lemma = random.choice(choice)
            if _begins_sentence(token) and token.text[:1].isupper():
                text = text[:1].upper() + text[1:]
            texts[token.i] = text
            array[token.i, KEPT.index("LEMMA")] = lemma
            origins[token.i] = None
        spaces = None if doc.has_unknown_spaces else [bool(token.whitespace_) for token in doc]
        copy = Doc(doc.vocab, words=texts, spaces=spaces)
        copy.from_array(list(KEPT), array)
        copy.cats = dict(doc.cats)
        _copy_user_data(doc, copy, origins)
        for name, group in doc.spans.items():
            copy.spans[name] = [
                Span(copy, s.start, s.end, label=s.label, kb_id=s.kb_id, span_id=s.id)
                for s in group
            ]
        return copy

    def collect_phrases(self, docs: Sequence[Doc]) -> Phrases:
        """Collect the phrases of open classes. Those that may owe a capital to the beginning of a
        sentence are left out.

        Raises:
            ValueError: No word of an open class has a head.
        """
        found: Phrases = {}
        any_head = False
        for doc in docs:
            any_head = any_head or any(t.pos_ in self.pos and t.head.i != t.i for t in doc)
            for phrase in find_phrases(doc, self.pos):
                if not phrase.begins_sentence:
                    found.setdefault(phrase.kind, []).append(phrase)
        if docs and not any_head:
            raise ValueError(
                f"NonceCorpus: no word of {self.path} that has a head is one of the parts of "
                f"speech {', '.join(sorted(self.pos))}, so there are no phrases to exchange: "
                f"annotate parts of speech and trees, name others as pos, or set phrases = 0."
            )
        return found

    def exchange_phrases(self, doc: Doc, phrases: Phrases) -> Doc:
        """Copy a document, phrases exchanged for others of the same kind."""
        chosen: dict[int, tuple[Phrase, Phrase]] = {}  # by the first word: the old one, the new one
        free = [True] * len(doc)
        own = find_phrases(doc, self.pos)
        for old in random.sample(own, len(own)):
            choice = phrases.get(old.kind)
            if choice is None or random.random() >= self.phrases:
                continue
            if all(free[old.first : old.end]):
                free[old.first : old.end] = [False] * (old.end - old.first)
                chosen[old.first] = old, random.choice(choice)
        if not chosen:
            return doc
        kept: Any = doc.to_array(list(KEPT))
        rows: list[Any] = []
        texts: list[str] = []
        spaces: list[bool] = []
        origins: list[Token] = []
        place: dict[int, int] = {}  # in the copy, of words that stay and of those for old heads
        i = 0
        while i < len(doc):
            one = Phrase(doc, i, i, i + 1)
            old, new = chosen.get(i, (one, one))
            place[old.head] = len(texts) + new.head - new.first
            array: Any = kept if new is one else new.doc.to_array(list(KEPT))
            rows.append(array[new.first : new.end])
            rows[-1][0, SENT_START] = kept[i, SENT_START]
            tokens = new.doc[new.first : new.end]
            origins += tokens
            words = [token.text for token in tokens]
            if old.begins_sentence:
                words[0] = words[0][:1].upper() + words[0][1:]
            texts += words
            spaces += [bool(token.whitespace_) for token in tokens]
            spaces[-1] = bool(doc[old.end - 1].whitespace_)
            i = old.end
        whole: Any = numpy.concatenate(rows)
        for i, here in place.items():
            whole[here, HEAD] = numpy.int64(place[doc[i].head.i] - here).astype("uint64")
        copy = Doc(doc.vocab, words=texts, spaces=None if doc.has_unknown_spaces else spaces)
        copy.from_array(list(KEPT), whole)
        copy.cats = dict(doc.cats)
        _copy_user_data(doc, copy, origins)
        return copy


def find_phrases(doc: Doc, pos: Collection[str]) -> list[Phrase]:
    """Find the phrases of a document whose heads are of these parts of speech. Those whose borders
    cut an entity or a multiword token are left out."""
    first, last, size = list(range(len(doc))), list(range(len(doc))), [1] * len(doc)
    for token in doc:
        for above in token.ancestors:
            first[above.i] = min(first[above.i], token.i)
            last[above.i] = max(last[above.i], token.i)
            size[above.i] += 1
    found = []
    ranges = multiword_ranges(doc).items()
    inside = {i for begin, n in ranges for i in range(begin + 1, begin + n)}
    for token in doc:
        phrase = Phrase(doc, token.i, first[token.i], last[token.i] + 1)
        if token.pos_ not in pos or token.head.i == token.i:
            continue
        borders = [i for i in (phrase.first, phrase.end) if i < len(doc)]
        cut = any(doc[i].ent_iob_ == "I" or i in inside for i in borders)
        if phrase.end - phrase.first == size[token.i] and not cut:
            found.append(phrase)
    return found


def mix(docs: Sequence[Doc]) -> Iterator[Doc]:
    """Make other documents of the sentences: in random order, and from one to nearly twice as many
    in each as there are on average. Documents of one sentence, and those whose sentences are not
    known, stay as they are.

    Args:
        docs: Of one vocabulary.

    Yields:
        The documents that stay, then the new ones.
    """
    sentences: list[Doc] = []
    n_docs = 0
    for doc in docs:
        if not doc.has_annotation("SENT_START") or len(found := list(doc.sents)) < 2:
            yield doc
            continue
        sentences += map(_alone, found)
        n_docs += 1
    random.shuffle(sentences)
    begin = 0
    while begin < len(sentences):
        end = begin + random.randint(1, 2 * round(len(sentences) / n_docs) - 1)
        joined = Doc.from_docs(sentences[begin:end])
        assert joined is not None
        yield joined
        begin = end


def _alone(sentence: Span) -> Doc:
    """A document of a sentence. ``Span.as_doc`` takes the extensions of all other tokens along."""
    doc = sentence.as_doc(copy_user_data=True)
    doc.user_data = {
        key: value
        for key, value in doc.user_data.items()
        if isinstance(key, tuple) and len(key) == 4 and 0 <= (key[2] or 0) < len(doc.text)
    }
    return doc


def _copy_user_data(doc: Doc, copy: Doc, origins: Sequence[Token | None]) -> None:
    """Copy the user data of a document, and for each token of the copy the extensions of the token,
    of whichever document, that it comes from. Extensions of spans are left out."""
    by_doc: dict[int, dict[int, list[tuple[str, Any]]]] = {}
    data: dict[Any, Any] = copy.user_data
    for key, value in doc.user_data.items():
        if not (_is_extension(key) and key[2] is not None):
            data[key] = value
    for token, origin in zip(copy, origins, strict=True):
        if origin is None or not origin.doc.user_data:
            continue
        if id(origin.doc) not in by_doc:
            found = by_doc[id(origin.doc)] = {}
            for key, value in origin.doc.user_data.items():
                if _is_extension(key) and key[2] is not None and key[3] is None:
                    found.setdefault(key[2], []).append((key[1], value))
        for name, value in by_doc[id(origin.doc)].get(origin.idx, ()):
            data["._.", name, token.idx, None] = value


def _is_extension(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 4 and key[0] == "._."


def _begins_sentence(token: Token) -> bool:
    return token.i == 0 or bool(token.is_sent_start)
