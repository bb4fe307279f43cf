"""Training on documents in which words and phrases give way to others of the same kind, and
sentences have other neighbours.

Gulordava et al. 2018, *Colorless green recurrent networks dream hierarchically*, for the sentences;
Vania et al. 2019, *A systematic comparison of methods for low-resource dependency parsing on
genuinely low-resource languages*, for parsers of small treebanks that learn from them; Shi, Livescu
& Gimpel 2021, *Substructure substitution: structured data augmentation for NLP*, for phrases.
"""

# No postponed annotations: spaCy validates configs by the batcher's signature.

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
from spacy.parts_of_speech import IDS
from spacy.tokens import Doc, Span, Token
from spacy.training import Example
from spacy.util import registry

from spacy_nmparse.layers.treebanks import KEY, copy_treebank, treebank_of
from spacy_nmparse.pipe.roots import EXTENSION
from spacy_nmparse.pipe.subtokens import joins_of
from spacy_nmparse.pipe.training_log import EPOCHS
from spacy_nmparse.ud.extensions import (
    in_multiword_tokens,
    is_extension,
    multiword_ranges,
    split_doc,
    told_of,
)

#: In data of at most so many words, words and phrases are exchanged unasked.
MOST_WORDS = 300_000
#: Data of at most so many words are small.
FEW_WORDS = 100_000
#: Share of the rare words that are exchanged unasked in small data, and in larger ones.
LEVELS = (0.3, 0.2)
#: Share of the phrases that are exchanged unasked.
PHRASES = 0.3
#: Words that the data have more often are known well enough and stay.
RARE = 5
#: What a word and those that may take its place have in common.
KIND = ("POS", "TAG", "MORPH")
#: What a copy takes over from the document, with the spaces.
KEPT = (*KIND, "DEP", "HEAD", "SENT_START", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID", "LEMMA")
FIELDS = (*KEPT, "ORTH", "SPACY")
DEP, HEAD, SENT_START, ENT_IOB, LEMMA, ORTH, SPACE = map(
    FIELDS.index, ("DEP", "HEAD", "SENT_START", "ENT_IOB", "LEMMA", "ORTH", "SPACY")
)
INSIDE = 1  # of ENT_IOB: an entity goes on

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
        kind: What phrases that may take each other's place have in common.
    """

    doc: Doc
    head: int
    first: int
    end: int
    kind: Kind

    @property
    def begins_sentence(self) -> bool:
        """Whether its first word begins a sentence with a capital."""
        first = self.doc[self.first]
        return _begins_sentence(first) and first.text[:1].isupper()


#: Phrases by kind, in the order of the data.
Phrases = dict[Kind, list[Phrase]]


class Source:
    """A document of the data, as copies are made of it: read once.

    Attributes:
        doc: The document.
        fields: Of its tokens, FIELDS.
        texts: Their texts.
        joins: bool (tokens,): whether they are joined to the next one (``ud.pieces``).
        multiword: Whether they stand for several words, are words of a multiword token, or pieces
            of a word.
        extensions: The values of their extensions, by name.
        data: The user data of the document itself.
        phrases: Its phrases.
    """

    def __init__(self, doc: Doc, classes: Collection[int]) -> None:
        """Read a document, whose phrases have heads of these parts of speech."""
        self.doc = doc
        self.fields: Any = doc.to_array(list(FIELDS))
        self.texts = [doc.vocab.strings[orth] for orth in self.fields[:, ORTH].tolist()]
        self.joins = joins_of(doc)
        inside = in_multiword_tokens(doc)
        for i in self.joins.nonzero()[0].tolist():
            inside |= {i, i + 1}
        self.multiword = [i in inside for i in range(len(doc))]
        self.extensions = told_of(doc) or [{}] * len(doc)
        self.data: dict[Any, Any] = {
            key: value
            for key, value in doc.user_data.items()
            if not is_extension(key) or key[2] is None
        }
        self.phrases = self._find_phrases(classes)

    def _find_phrases(self, classes: Collection[int]) -> list[Phrase]:
        """Find the phrases. Those whose borders cut an entity or a multiword token are left out."""
        doc, fields = self.doc, self.fields
        n = len(doc)
        heads = (fields[:, HEAD].astype("int64") + numpy.arange(n)).tolist()
        first, last, size = list(range(n)), list(range(n)), [1] * n
        for i in range(n):
            above = i
            while (head := heads[above]) != above:
                above = head
                first[above] = min(first[above], i)
                last[above] = max(last[above], i)
                size[above] += 1
        found = []
        ranges = multiword_ranges(doc).items()
        inside = {i for begin, length in ranges for i in range(begin + 1, begin + length)}
        inside |= set(numpy.flatnonzero(fields[:, ENT_IOB] == INSIDE).tolist())
        for i, (pos, tag, morph, dep) in enumerate(fields[:, : DEP + 1].tolist()):
            head, end = heads[i], last[i] + 1
            if pos not in classes or head == i or self.joins[i] or end - first[i] != size[i]:
                continue
            if first[i] not in inside and end not in inside:
                kind = (pos, tag, morph, dep, int(head > i))
                found.append(Phrase(doc, i, first[i], end, kind))
        return found


class Draft:
    """A copy in the making: pieces of documents, one after the other.

    Attributes:
        source: The document that is copied.
        fields: Of the copy's tokens, FIELDS.
        texts: Their texts.
        multiword: As of Source.
        extensions: As of Source.
    """

    def __init__(self, source: Source, pieces: Sequence[tuple[Source, int, int]]) -> None:
        """Copy pieces, each the tokens first .. end - 1 of a document."""
        self.source = source
        self.fields: Any = numpy.concatenate([one.fields[i:j] for one, i, j in pieces])
        self.texts = [text for one, i, j in pieces for text in one.texts[i:j]]
        self.multiword = [told for one, i, j in pieces for told in one.multiword[i:j]]
        self.extensions = [told for one, i, j in pieces for told in one.extensions[i:j]]

    def begins_sentence(self, i: int) -> bool:
        """Whether a token begins a sentence."""
        return i == 0 or self.fields[i, SENT_START] == 1

    def as_doc(self) -> Doc:
        """The copy: the annotation KEPT, and user data; extensions of spans are left out."""
        doc = self.source.doc
        spaces = None if doc.has_unknown_spaces else self.fields[:, SPACE].astype(bool).tolist()
        copy = Doc(doc.vocab, words=self.texts, spaces=spaces)
        copy.from_array(list(KEPT), self.fields[:, : len(KEPT)])
        copy.cats = dict(doc.cats)
        data: Any = copy.user_data
        data.update(self.source.data)
        for i, values in enumerate(self.extensions):
            for name, value in values.items():
                data["._.", name, copy[i].idx, None] = value
        return copy


def unasked(words: int) -> tuple[float, float]:
    """Choose what is exchanged where no setting says it.

    Args:
        words: Words of the data.

    Returns:
        The shares of rare words and of phrases.
    """
    if words > MOST_WORDS:
        return 0.0, 0.0
    return LEVELS[words > FEW_WORDS], PHRASES


@dataclass
class NonceBatches:
    """A batcher: in each epoch most documents give way to copies with exchanged words and phrases,
    and, if wanted, with their sentences in other documents. What a component reads when it is
    initialized are the documents themselves.

    The attributes are the settings of ``BatchByWords``, and ``batch``, which makes batches of an
    epoch's examples.

    Raises:
        ValueError: share, level or phrases is no share.
    """

    batch: Callable[[Iterable[Example]], Iterable[Any]]
    share: float
    level: float | None
    phrases: float | None
    pos: Sequence[str]
    regroup: bool
    _known: "tuple[Any, Exchange] | None" = None  # of the epoch before

    def __post_init__(self) -> None:
        for name in ("share", "level", "phrases"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"training.batcher.{name} is {value}, not from 0 to 1.")

    def __call__(self, examples: Iterable[Example]) -> Iterable[Any]:
        """Batches of an epoch. A stream of examples (``training.max_epochs = -1``), which nobody
        has seen whole, stays as it is.

        Raises:
            ValueError: There are words or phrases to exchange by the settings, and none is of an
                open class.
        """
        if not isinstance(examples, list):
            return self.batch(examples)
        epoch = self.epoch(examples)
        return EPOCHS.count(self.batch(epoch), epoch)

    def epoch(self, examples: list[Example]) -> list[Example]:
        """The examples of an epoch, those that give way replaced, in random order."""
        if self._known is None or self._known[0] is not examples:
            docs = [example.reference for example in examples]
            level, phrases = unasked(sum(map(len, docs)))
            level = level if self.level is None else self.level
            phrases = phrases if self.phrases is None else self.phrases
            exchange = Exchange(self.pos, level, phrases)
            exchange.collect(docs, required=(self.level is not None, self.phrases is not None))
            self._known = examples, exchange
        exchange = self._known[1]
        if not (exchange or self.regroup):
            return examples
        found: list[Example] = []
        chosen: list[Example] = []
        for example in examples:
            (chosen if random.random() < self.share else found).append(example)
        whole = {id(example.reference): example for example in chosen}
        docs = [example.reference for example in chosen]
        for doc in mix(docs) if self.regroup else docs:
            copy = exchange(doc)
            found.append(whole.get(id(copy)) or _example(copy))
        random.shuffle(found)
        return found


def BatchByWords(
    size: Sequence[int] | int,
    tolerance: float = 0.2,
    discard_oversize: bool = False,
    get_length: Callable | None = None,
    share: float = 0.9,
    level: float | None = None,
    phrases: float | None = None,
    pos: Sequence[str] = ("ADJ", "ADV", "NOUN", "NUM", "PROPN", "VERB"),
    regroup: bool = False,
) -> Callable:
    """A batcher (``@batchers``) as ``spacy.batch_by_words.v1``, which also makes other sentences of
    the training data in each epoch: words and phrases are exchanged for others of the same kind, or
    sentences have other neighbours.

    Args:
        size: as of ``spacy.batch_by_words.v1``, like the next three.
        tolerance: by how much a batch may be larger.
        discard_oversize: whether documents that are too large are left out.
        get_length: counts the words of an example.
        share: of the documents, how many give way to copies in an epoch.
        level: share of the words of open classes that a copy exchanges, of those that the training
            data has at most five times; null: 0.3, in data of more than 100,000 words 0.2, of more
            than 300,000 words 0.
        phrases: share of the phrases, each the word of an open class with all that is below it,
            that a copy exchanges for others whose words are of the same kind; null: 0.3, in data of
            more than 300,000 words 0.
        pos: the open classes, as UPOS tags.
        regroup: whether copies are of documents made of the sentences in random order.
    """
    batch = registry.batchers.get("spacy.batch_by_words.v1")(
        size=size, tolerance=tolerance, discard_oversize=discard_oversize, get_length=get_length
    )
    return NonceBatches(batch, share=share, level=level, phrases=phrases, pos=pos, regroup=regroup)


class Exchange:
    """Copies documents, some words and phrases exchanged for others of the same kind.

    A word of an open class that the data have at most RARE times is exchanged with the probability
    ``level`` for one drawn from all words of the data that share its part of speech, tag and
    morphological features, and takes on its lemma. What else is annotated stays: trees, tags,
    sentences, entities. Multiword tokens, their words (see ``ud.extensions``), and words of
    several pieces (``ud.pieces``) are not exchanged.

    A phrase whose head is of an open class is exchanged, before words are, with the probability
    ``phrases`` for one drawn from all phrases of the data whose heads share these and the label,
    and stand on the same side of what they hang on: it is a part of no phrase that is exchanged. It
    brings its annotation along. Groups of spans are lost. The draws are of Python's ``random``,
    which training seeds.

    Extensions of tokens stay with the tokens; those of exchanged words and of spans are lost.
    """

    def __init__(self, pos: Collection[str], level: float, phrases: float) -> None:
        """Know no words yet.

        Args:
            pos: The open classes, as UPOS tags.
            level: Share of the rare words of open classes that a copy exchanges, from 0 to 1.
            phrases: Share of the phrases that a copy exchanges, from 0 to 1.
        """
        self.pos = frozenset(pos)
        self.classes = frozenset(IDS[name] for name in pos if name in IDS)
        self.level = level
        self.share_of_phrases = phrases
        self.words: Words = {}
        self.common: frozenset[int] = frozenset()
        self.phrases: Phrases = {}
        self._sources: dict[int, Source] = {}  # by the document's id

    def __bool__(self) -> bool:
        """Whether there is something to exchange."""
        return bool(self.words or self.phrases)

    def collect(self, docs: Sequence[Doc], required: tuple[bool, bool] = (True, True)) -> None:
        """Collect the words and phrases of open classes, as far as they are to be exchanged. Those
        that may owe their capital to the beginning of a sentence are left out, and so are words of
        multiword tokens.

        Args:
            docs: The data.
            required: Whether it is an error that there are no words, or no phrases.

        Raises:
            ValueError: It is: no word is of an open class, or none of these has a head.
        """
        opened = [token for doc in docs for token in doc if token.pos_ in self.pos]
        classes = ", ".join(sorted(self.pos))
        if docs and not opened and self.level and required[0]:
            raise ValueError(
                f"No word of the training data has one of the parts of speech {classes}, so there "
                f"are none to exchange: annotate them, name others as training.batcher.pos, or set "
                f"training.batcher.level = 0."
            )
        with_head = any(token.head.i != token.i for token in opened)
        if docs and not with_head and self.share_of_phrases and required[1]:
            raise ValueError(
                f"No word of the training data that has a head is one of the parts of speech "
                f"{classes}, so there are no phrases to exchange: annotate parts of speech and "
                f"trees, name others as training.batcher.pos, or set training.batcher.phrases = 0."
            )
        if not (self.level or (self.share_of_phrases and with_head)):
            return
        sources = [Source(doc, self.classes) for doc in docs]
        self._sources = {id(source.doc): source for source in sources}
        if self.level:
            self.words = self._collect_words(sources)
            counts = Counter(orth for source in sources for orth in source.fields[:, ORTH].tolist())
            self.common = frozenset(orth for orth, n in counts.items() if n > RARE)
        if self.share_of_phrases and with_head:
            for source in sources:
                for phrase in source.phrases:
                    if not phrase.begins_sentence:
                        self.phrases.setdefault(phrase.kind, []).append(phrase)

    def __call__(self, doc: Doc) -> Doc:
        """Copy a document, phrases and words exchanged; itself, where there are none."""
        source = self._source(doc)
        chosen = self._choose_phrases(source) if self.phrases else {}
        if not (chosen or self.words):
            return doc
        draft = self._exchange_phrases(source, chosen)
        if self.words:
            self._exchange_words(draft)
        copy = draft.as_doc()
        for name, group in doc.spans.items() if not chosen else ():
            copy.spans[name] = [
                Span(copy, s.start, s.end, label=s.label, kb_id=s.kb_id, span_id=s.id)
                for s in group
            ]
        return copy

    def _source(self, doc: Doc) -> Source:
        return self._sources.get(id(doc)) or Source(doc, self.classes)

    def _collect_words(self, sources: Iterable[Source]) -> Words:
        found: dict[Kind, dict[tuple[str, int], None]] = {}
        for source in sources:
            kinds = source.fields[:, : len(KIND)].tolist()
            for token, kind in zip(source.doc, kinds, strict=True):
                capital = _begins_sentence(token) and token.text[:1].isupper()
                if token.pos_ in self.pos and not capital and not source.multiword[token.i]:
                    found.setdefault(tuple(kind), {})[token.text, token.lemma] = None
        return {kind: list(words) for kind, words in found.items()}

    def _exchange_words(self, draft: Draft) -> None:
        """Exchange words for others of the same kind."""
        kinds = draft.fields[:, : len(KIND)].tolist()
        for i, (orth, kind) in enumerate(zip(draft.fields[:, ORTH].tolist(), kinds, strict=True)):
            choice = self.words.get(tuple(kind)) if kind[0] in self.classes else None
            if choice is None or orth in self.common or draft.multiword[i]:
                continue
            if random.random() >= self.level:
                continue
            text, lemma = random.choice(choice)
            if draft.texts[i][:1].isupper() and draft.begins_sentence(i):
                text = text[:1].upper() + text[1:]
            draft.texts[i] = text
            draft.fields[i, LEMMA] = lemma
            # The label of a root is that of the place.
            told = draft.extensions[i].items()
            draft.extensions[i] = {name: value for name, value in told if name == EXTENSION}

    def _choose_phrases(self, source: Source) -> dict[int, tuple[Phrase, Phrase]]:
        """Draw phrases to exchange: by its first word, the old one and the new one."""
        chosen: dict[int, tuple[Phrase, Phrase]] = {}
        free = [True] * len(source.texts)
        for old in random.sample(source.phrases, len(source.phrases)):
            choice = self.phrases.get(old.kind)
            if choice is None or random.random() >= self.share_of_phrases:
                continue
            if all(free[old.first : old.end]):
                free[old.first : old.end] = [False] * (old.end - old.first)
                chosen[old.first] = old, random.choice(choice)
        return chosen

    def _exchange_phrases(self, source: Source, chosen: dict[int, tuple[Phrase, Phrase]]) -> Draft:
        """Copy a document, phrases exchanged for others of the same kind."""
        pieces: list[tuple[Source, int, int]] = []
        places = numpy.full(len(source.texts), -1)  # in the copy; of words that go: -1
        begins = []  # where the new phrases begin
        i = n = 0
        for start in sorted(chosen):
            old, new = chosen[start]
            pieces += (source, i, start), (self._source(new.doc), new.first, new.end)
            places[i:start] = range(n, n + start - i)
            n += start - i
            places[old.head] = n + new.head - new.first
            begins.append(n)
            n += new.end - new.first
            i = old.end
        places[i:] = range(n, n + len(places) - i)
        draft = Draft(source, [*pieces, (source, i, len(places))])
        fields, stays = source.fields, numpy.flatnonzero(places >= 0)
        heads = fields[:, HEAD].astype("int64") + numpy.arange(len(places))
        draft.fields[places[stays], HEAD] = (places[heads[stays]] - places[stays]).astype("uint64")
        for at, start in zip(begins, sorted(chosen), strict=True):
            old, new = chosen[start]
            draft.fields[at, SENT_START] = fields[old.first, SENT_START]
            draft.fields[at + new.end - new.first - 1, SPACE] = fields[old.end - 1, SPACE]
            if old.begins_sentence:
                text = draft.texts[at] = draft.texts[at][:1].upper() + draft.texts[at][1:]
                draft.fields[at, ORTH] = source.doc.vocab.strings.add(text)
        return draft


def mix(docs: Sequence[Doc]) -> Iterator[Doc]:
    """Make other documents of the sentences of each treebank: in random order, and from one to
    nearly twice as many in each as there are on average. Documents of one sentence, and those whose
    sentences are not known, stay as they are.

    Args:
        docs: Of one vocabulary.

    Yields:
        The documents that stay, then the new ones.
    """
    by_treebank: dict[str, list[Doc]] = {}
    for doc in docs:
        by_treebank.setdefault(treebank_of(doc), []).append(doc)
    for own in by_treebank.values():
        yield from _mix(own)


def _mix(docs: Sequence[Doc]) -> Iterator[Doc]:
    sentences: list[Doc] = []
    n_docs = 0
    for doc in docs:
        found = list(split_doc(doc))
        if len(found) < 2:
            yield doc
            continue
        sentences += found
        n_docs += 1
    random.shuffle(sentences)
    begin = 0
    while begin < len(sentences):
        end = begin + random.randint(1, 2 * round(len(sentences) / n_docs) - 1)
        for sentence in sentences[begin:end]:
            sentence.user_data.pop(KEY, None)  # type: ignore[call-overload]
        joined = Doc.from_docs(sentences[begin:end])
        assert joined is not None
        copy_treebank(docs[0], joined)
        yield joined
        begin = end


def _example(reference: Doc) -> Example:
    """An example of a copy, split into its words."""
    words = [token.text for token in reference]
    spaces = None
    if not reference.has_unknown_spaces:
        spaces = [bool(token.whitespace_) for token in reference]
    predicted = Doc(reference.vocab, words, spaces)
    copy_treebank(reference, predicted)
    return Example(predicted, reference)


def _begins_sentence(token: Token) -> bool:
    return token.i == 0 or bool(token.is_sent_start)
