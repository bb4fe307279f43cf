"""CoNLL-U from documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy
from spacy.tokens import Doc, MorphAnalysis, Span, Token
from spacy.vocab import Vocab

from spacy_nmparse.pipe.confidence import confidences
from spacy_nmparse.pipe.known import is_known
from spacy_nmparse.pipe.roots import TREEBANK_ROOT
from spacy_nmparse.ud.columns import Columns, Texts, joined, plain
from spacy_nmparse.ud.conllu import (
    DEPREL,
    EMPTY,
    FEATS,
    FORM,
    HEAD,
    ID,
    LEMMA,
    MISC,
    NO_SPACE,
    UPOS,
    XPOS,
    Sentence,
    find_cycle,
)
from spacy_nmparse.ud.extensions import ud_range, ud_words, value_of

#: In ``doc.user_data``: the comments and rows of the sentences of CoNLL-U that were parsed.
ROWS = "spacy_nmparse.conllu"
SPACES_BEFORE, SPACES_AFTER, SPACES_IN = "SpacesBefore=", "SpacesAfter=", "SpacesInToken="
CONFIDENCES = ("HeadConfidence", "DepConfidence")
KNOWN_HEAD, CONFIRMED = "KnownHead=Yes", "Confirmed=Yes"
ESCAPES = {"\\": "\\\\", " ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p"}


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
        self._given = given
        self._number = first - 1

    def of(self, sentence: Sentence) -> str:
        """The id of the next sentence."""
        known = sentence.value("sent_id")
        if known:
            self.skip(1)
        return known or self.next()

    def next(self) -> str:
        """The id of the next sentence, which has none."""
        self._number += 1
        while str(self._number) in self._given:
            self._number += 1
        return str(self._number)

    def skip(self, n_sents: int) -> None:
        """Count sentences that have ids."""
        self._number += n_sents


def doc_sentences(
    doc: Doc, *, confidence: bool = False, made: Texts | None = None
) -> Iterator[Sentence]:
    """The sentences that ``doc_to_conllu`` writes; those of spaces alone are left out. made: as of
    ``Columns``."""
    sure = confidences(doc) if confidence else None
    given = [Sentence([*comments], rows) for comments, rows in doc.user_data.get(ROWS, ())]
    if given and _text(given) == doc.text.rstrip(" "):
        yield from _filled(doc, given, Columns(doc, made), sure)
        return
    for sent, rows in document_rows(doc, sure, made):
        yield Sentence(_comments(sent), rows)


def document_rows(
    doc: Doc, sure: numpy.ndarray | None = None, made: Texts | None = None
) -> Iterator[tuple[Span, list[list[str]]]]:
    """The sentences of a document and their rows: words, and multiword tokens before theirs.

    A word below a whitespace token goes to the head of that token.

    Args:
        doc: The document. Without sentence boundaries it is one sentence.
        sure: What ``confidences`` gives, for MISC.
        made: As of ``Columns``.

    Yields:
        The sentences but for those of spaces alone, with ten columns for each row.
    """
    columns = Columns(doc, made)
    for sent in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
        tokens = [i for i in range(sent.start, sent.end) if not columns.is_space[i]]
        if tokens:
            yield sent, _sentence_rows(doc, tokens, columns, sure)


def _sentence_rows(
    doc: Doc, tokens: list[int], columns: Columns, sure: numpy.ndarray | None
) -> list[list[str]]:
    """The rows of a sentence's words, given the numbers of their tokens."""
    words_of = {i: ud_words(doc[i]) for i in tokens if i in columns.told}
    numbers: dict[int, int] = {}  # of each token, that of the word which stands for it in the tree
    firsts: list[int] = []
    number = 1
    for i in tokens:
        words = words_of.get(i, [])
        firsts.append(number)
        numbers[i] = number + next((k for k, word in enumerate(words) if word.head < 0), 0)
        number += len(words) or 1
    rows: list[list[str]] = []
    inside = 0  # words that remain of a multiword token whose words are tokens
    for place, (i, start) in enumerate(zip(tokens, firsts, strict=True)):
        words = words_of.get(i, [])
        misc = _misc(doc, i, columns, sure)
        span = ud_range(doc[i]) if i in columns.told and not inside else None
        if span is not None and len(tokens) >= place + span[1] and span[1] > 1:
            form, inside, own_misc = span
            last = tokens[place + inside - 1]
            items = _spaced(_items(own_misc), columns.gaps[last], last + 1 == len(doc))
            rows.append(_range(f"{start}-{start + inside - 1}", form, items, doc[i]))
        if inside:
            misc = [item for item in misc if not _is_spacing(item)]
            inside -= 1
        head, deprel = _arc(i, columns, numbers)
        if not words:
            values = [columns.lemmas[i], columns.upos[i], columns.xpos[i], columns.feats[i]]
            written = plain("|".join(misc)) if misc else EMPTY
            rows.append([str(start), columns.forms[i], *values, head, deprel, EMPTY, written])
            continue
        last_word = start + len(words) - 1
        rows.append(_range(f"{start}-{last_word}", columns.forms[i], misc, doc[i]))
        for k, word in enumerate(words):
            arc = (head, deprel) if word.head < 0 else (str(start + word.head), word.deprel)
            values = [word.form, word.lemma, *map(joined, word[2:5]), *map(joined, arc)]
            rows.append([str(start + k), *(value or EMPTY for value in values), EMPTY, EMPTY])
    return rows


def _range(number: str, form: str, misc: Sequence[str], token: Token) -> list[str]:
    """The row of a multiword token; `token` has its columns, if they are known."""
    columns = value_of(token, "ud_columns") or [EMPTY] * (MISC - LEMMA)
    return [number, form, *columns, plain("|".join(misc)) or EMPTY]


def _arc(i: int, columns: Columns, numbers: dict[int, int]) -> tuple[str, str]:
    """HEAD and DEPREL of a token; ``_`` where it has none."""
    label, below = columns.deprels[i], columns.heads[i] != i
    if label == EMPTY and not below:
        return EMPTY, EMPTY
    head = _above(i, columns, numbers)
    if head is None:
        return "0", TREEBANK_ROOT if below else columns.root_label(i)
    return str(numbers[head]), label


def _above(i: int, columns: Columns, numbers: dict[int, int]) -> int | None:
    """The head of a token, without those that are no words; None: it is a root."""
    heads = columns.heads
    head = heads[i]
    while head not in numbers and heads[head] != head and columns.is_space[head]:
        head = heads[head]
    return None if head == i or head not in numbers else head


# MISC and comments


def _items(misc: str | None) -> list[str]:
    """The items of MISC but for those of an earlier parse."""
    items = (misc or EMPTY).split("|")
    return [item for item in items if item != EMPTY and item.partition("=")[0] not in CONFIDENCES]


def _is_spacing(item: str) -> bool:
    return item == NO_SPACE or item.startswith((SPACES_BEFORE, SPACES_AFTER))


def _spaced(items: list[str], gap: str, at_end: bool) -> list[str]:
    """Items that say which spaces follow, in their order where they say it already."""
    after = [item for item in items if item.startswith(SPACES_AFTER)]
    if (at_end and not gap) or (gap and after):
        return items  # what follows a document is up to where it comes from
    if not gap:
        items = [item for item in items if item not in after]
        return items if NO_SPACE in items else [*items, NO_SPACE]
    items = [item for item in items if item != NO_SPACE]
    return items if gap == " " else [*items, SPACES_AFTER + escaped(gap)]


def _misc(doc: Doc, i: int, columns: Columns, sure: numpy.ndarray | None) -> list[str]:
    """The items of MISC."""
    items = _items(value_of(doc[i], "ud_misc")) if i in columns.told else []
    items = _spaced(items, columns.gaps[i], i + 1 == len(doc))
    if i == columns.n_leading > 0 and not any(item.startswith(SPACES_BEFORE) for item in items):
        items = [SPACES_BEFORE + escaped(doc[:i].text_with_ws), *items]
    text = columns.texts[i]
    if text != columns.forms[i] and not any(item.startswith(SPACES_IN) for item in items):
        items.append(SPACES_IN + escaped(text))
    if i in columns.told:
        items += _mark(doc[i], "|".join(items))
    return items + _confidence(sure, i)


def is_marked(misc: str | None) -> bool:
    """Whether MISC says that the head of the word was known, or confirmed by a person."""
    return misc is not None and not {KNOWN_HEAD, CONFIRMED}.isdisjoint(misc.split("|"))


def _mark(token: Token, misc: str) -> list[str]:
    """What MISC does not say yet of a token whose head was known."""
    return [KNOWN_HEAD] if is_known(token) and not is_marked(misc) else []


def _confidence(sure: numpy.ndarray | None, i: int) -> list[str]:
    if sure is None:
        return []
    return [f"{key}={value:.3f}" for key, value in zip(CONFIDENCES, sure[:, i], strict=True)]


def escaped(spaces: str) -> str:
    """Whitespace as the value of ``SpacesAfter``; what UDPipe has no escape for, by its number."""
    return "".join(
        ESCAPES.get(sign) or (f"\\u{ord(sign):04x}" if sign.isspace() else sign) for sign in spaces
    )


def _comments(sent: Span) -> list[str]:
    """The comments of a sentence."""
    for token in sent:
        known: Any = value_of(token, "ud_comments") or ()
        if known or not token.text.isspace():
            return [" ".join(comment.splitlines()) for comment in known]
    return []


# Sentences that were CoNLL-U before


@dataclass(frozen=True)
class _Block:
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
    word = i = 0
    while word < len(places):
        begin, end = places[word]
        words, tokens = [], []
        while i < len(doc) and doc[i].idx + len(doc[i]) <= begin:
            i += 1  # of spaces alone
        while True:
            if word < len(places) and places[word][0] < end:
                end = max(end, places[word][1])
                words.append(word)
                word += 1
            elif i < len(doc) and doc[i].idx < end:
                end = max(end, doc[i].idx + len(doc[i]))
                tokens.append(i)
                i += 1
            else:
                break
        yield _Block(words, tokens)


def _filled(
    doc: Doc, given: Sequence[Sentence], columns: Columns, sure: numpy.ndarray | None
) -> Iterator[Sentence]:
    """Sentences of CoNLL-U with what a document says of their words.

    Where one token is one word, the word gets what the token has. Where tokens were merged or
    split, the words get the tree: the head of the token nearest to the root, and words below it
    their old heads, or else ``flat``. Heads in other sentences are roots.
    """
    blocks = list(_blocks(doc, given))
    block_of_word = {word: block for block in blocks for word in block.words}
    number_of_block = {i: number for number, block in enumerate(blocks) for i in block.tokens}
    parsed = doc.has_annotation("DEP")
    first = 0
    for sentence in given:
        rows = [[*row] for row in sentence.rows]
        words = [row for row in rows if row[ID].isdecimal()]
        for row in rows:
            row[MISC] = "|".join(_items(row[MISC])) or EMPTY
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
                token = min(block.tokens, key=columns.depths.__getitem__)
            row = words[top]
            if len(block.tokens) == len(block.words) == 1:
                _annotate(row, token, columns, doc.vocab)
                if token in columns.told:
                    row[MISC] = "|".join([*_items(row[MISC]), *_mark(doc[token], row[MISC])])
            row[MISC] = "|".join([*_items(row[MISC]), *_confidence(sure, token)]) or EMPTY
            if not parsed:
                continue
            label = columns.deprels[token]
            above = _above(token, columns, number_of_block) if label != EMPTY else None
            head = tops.get(number_of_block[above]) if above is not None else None
            if label == EMPTY and columns.heads[token] == token:
                row[HEAD] = row[DEPREL] = EMPTY
            elif head is not None:
                row[HEAD], row[DEPREL] = words[head][ID], label
            elif root:  # sentences have one root
                row[HEAD], row[DEPREL] = str(root), "parataxis"
            else:
                row[HEAD], root = "0", top + 1
                is_root = columns.heads[token] == token
                row[DEPREL] = columns.root_label(token) if is_root else TREEBANK_ROOT
        first += len(words)
        yield Sentence(sentence.comments, rows)


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


def _annotate(row: list[str], i: int, columns: Columns, vocab: Vocab) -> None:
    """Write what a token has into the columns of its word, unless they say the same."""
    for column, own in ((LEMMA, columns.lemmas), (UPOS, columns.upos), (XPOS, columns.xpos)):
        row[column] = row[column] if own[i] == EMPTY else own[i]
    feats = columns.feats[i]
    if feats != EMPTY and (row[FEATS] == EMPTY or not _same_features(row[FEATS], feats, vocab)):
        row[FEATS] = feats


def _same_features(one: str, other: str, vocab: Vocab) -> bool:
    return one == other or str(MorphAnalysis(vocab, one)) == str(MorphAnalysis(vocab, other))
