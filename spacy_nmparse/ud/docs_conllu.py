"""CoNLL-U from documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, NamedTuple

from spacy.attrs import IDX, LENGTH
from spacy.tokens import Doc, MorphAnalysis
from spacy.vocab import Vocab

from spacy_nmparse.pipe.confidence import confidences
from spacy_nmparse.pipe.known import NAME as KNOWN
from spacy_nmparse.pipe.roots import EXTENSION, ROOT_LABEL, TREEBANK_ROOT
from spacy_nmparse.ud.conllu import (
    DEPREL,
    EMPTY,
    FEATS,
    FORM,
    HEAD,
    ID,
    LEMMA,
    MISC,
    UPOS,
    XPOS,
    Commented,
    Lines,
    Sentence,
    depths,
    find_cycle,
)
from spacy_nmparse.ud.rows import RowWriter, joined, marked_items, misc_items

#: In ``doc.user_data``: the comments and rows of the sentences of CoNLL-U that were parsed.
ROWS = "spacy_nmparse.conllu"


def doc_to_conllu(doc: Doc, *, confidence: bool = False, first: int = 1) -> str:
    """Write a document as CoNLL-U.

    Spaces that are tokens are no words: they are in MISC (``SpacesBefore``, ``SpacesAfter``, with
    UDPipe's escapes). MISC, multiword tokens and comments come from the extensions of the tokens
    (``spacy_nmparse.ud.extensions``); ``# text`` stays where it has the letters of the words, and
    is made of the words elsewhere. Words whose heads the parser has kept have ``KnownHead=Yes`` in
    MISC, unless that has ``Confirmed=Yes``.

    Args:
        doc: The document. Without sentence boundaries it is one sentence; what is not annotated
            is ``_``.
        confidence: Whether MISC has how sure the parser is of head and label
            (``HeadConfidence``, ``DepConfidence``), where the document has that. Those of an
            earlier parse, in MISC, are left out in any case.
        first: The least ``sent_id`` of sentences that have none; others are counted on, but for
            ids of other sentences.

    Returns:
        The sentences, with a blank line behind each.
    """
    sentences = list(doc_sentences(doc, confidence=confidence))
    ids = SentenceIds({sentence.value("sent_id") or "" for sentence in sentences}, first)
    return "".join(sentence.to_conllu(ids.of(sentence)) for sentence in sentences)


class SentenceIds:
    """Gives sentences without an id their number, unless that is the id of another sentence.

    Args:
        given: The ids of other sentences.
        first: The number of the first sentence.
    """

    def __init__(self, given: Set[str], first: int = 1) -> None:
        self.given = given
        self._number = first - 1

    def of(self, sentence: Commented) -> str:
        """The id of the next sentence."""
        known = sentence.value("sent_id")
        if known:
            self.skip(1)
        return known or self.next()

    def next(self) -> str:
        """The id of the next sentence, which has none."""
        self._number += 1
        while str(self._number) in self.given:
            self._number += 1
        return str(self._number)

    def skip(self, n_sents: int) -> None:
        """Count sentences that have ids."""
        self._number += n_sents


def doc_sentences(doc: Doc, *, confidence: bool = False) -> Iterator[Lines]:
    """The sentences that ``doc_to_conllu`` writes; those of spaces alone are left out."""
    sure = confidences(doc) if confidence else None
    given = [Sentence([*comments], rows) for comments, rows in doc.user_data.get(ROWS, ())]
    writer = RowWriter(doc, sure)
    if given and _text(given) == doc.text.rstrip(" "):
        yield from _filled(doc, given, writer)
        return
    for start, end in _places(doc):
        if (found := writer.sentence(start, end)) is not None:
            yield Lines(writer.comments(start, end), *found)


def document_rows(doc: Doc) -> Iterator[list[list[str]]]:
    """The rows of the sentences of a document: words, and multiword tokens before theirs; ten
    columns each."""
    writer = RowWriter(doc)
    for place in _places(doc):
        if (found := writer.sentence(*place)) is not None:
            yield [row.split("\t") for row in found[1][:-1].split("\n")]


def _places(doc: Doc) -> Iterator[tuple[int, int]]:
    """The first token of each sentence, and the one behind its last."""
    for sent in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
        yield sent.start, sent.end


# Sentences that were CoNLL-U before


class _Block(NamedTuple):
    """Words of CoNLL-U and tokens of spaCy that have the same letters: mostly one of each.

    Attributes:
        words: Numbers of the words, counted from 0 over all sentences.
        tokens: Numbers of the tokens.
    """

    words: list[int]
    tokens: list[int]


def _text(sentences: Sequence[Sentence]) -> str:
    """The text of a document with the words of sentences."""
    words = (pair for s in sentences for pair in zip(s.words, s.spaces, strict=True))
    return "".join(row[FORM] + " " * space for row, space in words).rstrip(" ")


def _blocks(doc: Doc, sentences: Sequence[Sentence]) -> Iterator[_Block]:
    """Match words and tokens by their places in the text."""
    places, start = [], 0
    for sentence in sentences:
        for row, space in zip(sentence.words, sentence.spaces, strict=True):
            places.append((start, start + len(row[FORM])))
            start += len(row[FORM]) + space
    array: Any = doc.to_array([IDX, LENGTH])
    begins, ends = array[:, 0].tolist(), array.sum(axis=1).tolist()
    word = i = 0
    while word < len(places):
        begin, end = places[word]
        words, tokens = [], []
        while i < len(doc) and ends[i] <= begin:
            i += 1  # of spaces alone
        while True:
            if word < len(places) and places[word][0] < end:
                end = max(end, places[word][1])
                words.append(word)
                word += 1
            elif i < len(doc) and begins[i] < end:
                end = max(end, ends[i])
                tokens.append(i)
                i += 1
            else:
                break
        yield _Block(words, tokens)


def _filled(doc: Doc, given: Sequence[Sentence], writer: RowWriter) -> Iterator[Lines]:
    """Sentences of CoNLL-U with what a document says of their words.

    Where one token is one word, the word gets what the token has. Where tokens were merged or
    split, the words get the tree: the head of the token nearest to the root, and words below it
    their old heads, or else ``flat``. Heads in other sentences are roots.
    """
    blocks = list(_blocks(doc, given))
    block_of_word = {word: block for block in blocks for word in block.words}
    number_of_block = {i: number for number, block in enumerate(blocks) for i in block.tokens}
    parsed, heads = doc.has_annotation("DEP"), writer.heads()
    deep = depths(heads) if any(len(one.tokens) > 1 for one in blocks) else heads
    first = 0
    for sentence in given:
        rows = [[*row] for row in sentence.rows]
        words = [row for row in rows if row[ID].isdecimal()]
        for row in rows:
            if row[MISC] != EMPTY:
                row[MISC] = "|".join(misc_items(row[MISC])) or EMPTY
        here: dict[int, list[int]] = {}  # words of the sentence, from 0, by the number of a block
        for word in range(len(words)):
            block = block_of_word[first + word]
            if block.tokens:
                here.setdefault(number_of_block[block.tokens[0]], []).append(word)
        tops = {number: _joined(words, own, parsed) for number, own in here.items()}
        root = 0
        for number, top in tops.items():
            block = blocks[number]
            token = block.tokens[0]
            if len(block.tokens) > 1:
                token = min(block.tokens, key=deep.__getitem__)
            row = words[top]
            *cells, label = writer.cells(token)
            if len(block.tokens) == len(block.words) == 1:
                _annotate(row, cells, doc.vocab)
                if writer.says(token, KNOWN):
                    row[MISC] = "|".join(marked_items(misc_items(row[MISC])))
            if sure := writer.confidence(token):
                row[MISC] = "|".join([*misc_items(row[MISC]), sure])
            if not parsed:
                continue
            above = heads[token]
            while above not in number_of_block and heads[above] != above and writer.is_space(above):
                above = heads[above]
            head = None
            if label != EMPTY and above != token and above in number_of_block:
                head = tops.get(number_of_block[above])
            if label == EMPTY and heads[token] == token:
                row[HEAD] = row[DEPREL] = EMPTY
            elif head is not None:
                row[HEAD], row[DEPREL] = words[head][ID], label
            elif root:  # sentences have one root
                row[HEAD], row[DEPREL] = str(root), "parataxis"
            else:
                row[HEAD], root = "0", top + 1
                row[DEPREL] = TREEBANK_ROOT
                if heads[token] == token and (own := writer.says(token, EXTENSION)):
                    row[DEPREL] = joined(own)
                elif heads[token] == token and label not in (EMPTY, ROOT_LABEL):
                    row[DEPREL] = label
        first += len(words)
        yield Sentence(sentence.comments, rows).written()


def _joined(words: list[list[str]], own: list[int], parsed: bool) -> int:
    """The word, from 0, that stands for words of the same token; the others hang below it."""
    if len(own) == 1 or not parsed:
        return own[0]
    place = {words[word][ID]: number for number, word in enumerate(own, start=1)}
    heads = [place.get(words[word][HEAD], 0) for word in own]
    if heads.count(0) == 1 and not find_cycle(heads):
        return own[heads.index(0)]
    for word in own[1:]:
        words[word][HEAD], words[word][DEPREL] = words[own[0]][ID], "flat"
    return own[0]


def _annotate(row: list[str], cells: Sequence[str], vocab: Vocab) -> None:
    """Write what a token has into the columns LEMMA to FEATS of its word, unless they say the
    same."""
    *others, feats = cells
    for column, own in zip((LEMMA, UPOS, XPOS), others, strict=True):
        row[column] = row[column] if own == EMPTY else own
    if feats != EMPTY and (row[FEATS] == EMPTY or not _same_features(row[FEATS], feats, vocab)):
        row[FEATS] = feats


def _same_features(one: str, other: str, vocab: Vocab) -> bool:
    return one == other or str(MorphAnalysis(vocab, one)) == str(MorphAnalysis(vocab, other))
