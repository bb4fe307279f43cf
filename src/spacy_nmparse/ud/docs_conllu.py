"""CoNLL-U from documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy
from spacy.tokens import Doc, MorphAnalysis, Span, Token

from spacy_nmparse.pipe.confidence import confidences
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
)
from spacy_nmparse.ud.extensions import ud_range, ud_words, value_of

#: In ``doc.user_data``: the comments and rows of the sentences of CoNLL-U that were parsed.
ROWS = "spacy_nmparse.conllu"
SPACES_BEFORE, SPACES_AFTER, SPACES_IN = "SpacesBefore=", "SpacesAfter=", "SpacesInToken="
CONFIDENCES = ("HeadConfidence", "DepConfidence")
FORMAT_SPACES = re.compile(r"[ \t\r\n]+")
ESCAPES = {"\\": "\\\\", " ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p"}


def doc_to_conllu(doc: Doc, *, confidence: bool = False, first: int = 1) -> str:
    """Write a document as CoNLL-U.

    Spaces that are tokens are no words: they are in MISC (``SpacesBefore``, ``SpacesAfter``, with
    UDPipe's escapes). MISC, multiword tokens and comments come from the extensions of the tokens
    (``spacy_nmparse.ud.extensions``); ``# text`` stays where it has the letters of the words, and
    is made of the words elsewhere.

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


def doc_sentences(doc: Doc, *, confidence: bool = False) -> Iterator[Sentence]:
    """The sentences that ``doc_to_conllu`` writes; those of spaces alone are left out."""
    sure = confidences(doc) if confidence else None
    given = [Sentence([*comments], rows) for comments, rows in doc.user_data.get(ROWS, ())]
    if given and _text(given) == doc.text.rstrip(" "):
        yield from _filled(doc, given, sure)
        return
    for sent in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
        rows = sentence_rows(sent, sure)
        if rows:
            yield Sentence(_comments(sent), rows)


def sentence_rows(sent: Span, sure: numpy.ndarray | None = None) -> list[list[str]]:
    """The rows of a sentence: words, and multiword tokens before theirs.

    A word below a whitespace token goes to the head of that token.

    Args:
        sent: The sentence.
        sure: What ``confidences`` gives, for MISC.

    Returns:
        Ten columns each; none, where there are only spaces.
    """
    tokens = [token for token in sent if not token.text.isspace()]
    numbers: dict[int, int] = {}  # of each token, that of the word which stands for it in the tree
    firsts: list[int] = []
    number = 1
    for token in tokens:
        words = ud_words(token)
        firsts.append(number)
        own = next((i for i, word in enumerate(words) if word.head < 0), 0)
        numbers[token.i] = number + own
        number += len(words) or 1
    rows: list[list[str]] = []
    inside = 0  # words that remain of a multiword token whose words are tokens
    for place, (token, start) in enumerate(zip(tokens, firsts, strict=True)):
        words = ud_words(token)
        span = None if inside else ud_range(token)
        misc = _misc(token, sure)
        if span is not None and len(tokens) >= place + span[1] and span[1] > 1:
            form, inside, own_misc = span
            last = tokens[place + inside - 1]
            items = _spaced(_items(own_misc), _gap(last), last.i + 1 == len(token.doc))
            rows.append(_row(f"{start}-{start + inside - 1}", form, misc=items, token=token))
        if inside:
            misc = [item for item in misc if not _is_spacing(item)]
            inside -= 1
        head, deprel = _arc(token, numbers)
        if not words:
            values = (_plain(token.text), _plain(token.lemma_), token.pos_, token.tag_)
            rows.append(_row(str(start), *values, _features(token), head, deprel, misc))
            continue
        last_word = start + len(words) - 1
        rows.append(_row(f"{start}-{last_word}", _plain(token.text), misc=misc, token=token))
        for i, word in enumerate(words):
            arc = (head, deprel) if word.head < 0 else (str(start + word.head), word.deprel)
            rows.append(_row(str(start + i), *word[:5], *arc))
    return rows


def _row(
    number: str,
    form: str,
    lemma: str = "",
    upos: str = "",
    xpos: str = "",
    feats: str = "",
    head: str = "",
    deprel: str = "",
    misc: Sequence[str] = (),
    token: Token | None = None,
) -> list[str]:
    """A row; token: the one that the columns of a multiword token's row are known of."""
    columns = [number, form, lemma, upos, xpos, feats, head, deprel, "", _plain("|".join(misc))]
    columns[UPOS : DEPREL + 1] = [
        FORMAT_SPACES.sub("_", value) for value in columns[UPOS : DEPREL + 1]
    ]
    if token is not None:
        columns[LEMMA:MISC] = value_of(token, "ud_columns") or columns[LEMMA:MISC]
    return [column or EMPTY for column in columns]


def _plain(text: str) -> str:
    """A text without the spaces that columns cannot have; all others stay."""
    return FORMAT_SPACES.sub(" ", text).strip(" ")


def _features(token: Token) -> str:
    """FEATS in the order of Universal Dependencies, which is not spaCy's."""
    return "|".join(sorted(str(token.morph).split("|"), key=str.lower))


def _arc(token: Token, numbers: dict[int, int]) -> tuple[str, str]:
    """HEAD and DEPREL of a token; "" where it has none."""
    if not token.dep and token.head.i == token.i:
        return "", ""
    head = _above(token, numbers)
    if head is None:
        return "0", "root" if token.dep_ in ("", "ROOT") or token.head.i != token.i else token.dep_
    return str(numbers[head.i]), token.dep_


def _above(token: Token, numbers: dict[int, int]) -> Token | None:
    """The head of a token, without those that are no words; None: it is a root."""
    head = token.head
    while head.i not in numbers and head.head.i != head.i and head.text.isspace():
        head = head.head
    return None if head.i == token.i or head.i not in numbers else head


# MISC and comments


def _items(misc: str | None) -> list[str]:
    """The items of MISC but for those of an earlier parse."""
    items = (misc or EMPTY).split("|")
    return [item for item in items if item != EMPTY and item.partition("=")[0] not in CONFIDENCES]


def _is_spacing(item: str) -> bool:
    return item == NO_SPACE or item.startswith((SPACES_BEFORE, SPACES_AFTER))


def _gap(token: Token) -> str:
    """The spaces behind a token, those that are tokens too."""
    doc, end, gap = token.doc, token.i + 1, token.whitespace_
    while end < len(doc) and doc[end].text.isspace():
        gap += doc[end].text_with_ws
        end += 1
    return gap


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


def _misc(token: Token, sure: numpy.ndarray | None) -> list[str]:
    """The items of MISC."""
    doc = token.doc
    items = _spaced(_items(value_of(token, "ud_misc")), _gap(token), token.i + 1 == len(doc))
    start = token.i
    while start and doc[start - 1].text.isspace():
        start -= 1
    if start == 0 and token.i and not any(item.startswith(SPACES_BEFORE) for item in items):
        items = [SPACES_BEFORE + escaped(doc[: token.i].text_with_ws), *items]
    if token.text != _plain(token.text) and not any(item.startswith(SPACES_IN) for item in items):
        items.append(SPACES_IN + escaped(token.text))
    return items + _confidence(sure, token)


def _confidence(sure: numpy.ndarray | None, token: Token) -> list[str]:
    if sure is None:
        return []
    return [f"{key}={value:.3f}" for key, value in zip(CONFIDENCES, sure[:, token.i], strict=True)]


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
        tokens: The tokens.
    """

    words: list[int]
    tokens: list[Token]


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
                tokens.append(doc[i])
                i += 1
            else:
                break
        yield _Block(words, tokens)


def _filled(doc: Doc, given: Sequence[Sentence], sure: numpy.ndarray | None) -> Iterator[Sentence]:
    """Sentences of CoNLL-U with what a document says of their words.

    Where one token is one word, the word gets what the token has. Where tokens were merged or
    split, the words get the tree: the head of the token nearest to the root, and words below it
    their old heads, or else ``flat``. Heads in other sentences are roots.
    """
    blocks = list(_blocks(doc, given))
    block_of_word = {word: block for block in blocks for word in block.words}
    number_of_block = {
        token.i: number for number, block in enumerate(blocks) for token in block.tokens
    }
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
                here.setdefault(number_of_block[block.tokens[0].i], []).append(word)
        tops = {number: _joined(words, own, parsed) for number, own in here.items()}
        root = 0
        for number, top in tops.items():
            block = blocks[number]
            token = min(block.tokens, key=_depth) if len(block.tokens) > 1 else block.tokens[0]
            row = words[top]
            if len(block.tokens) == len(block.words) == 1:
                _annotate(row, token)
            row[MISC] = "|".join([*_items(row[MISC]), *_confidence(sure, token)]) or EMPTY
            if not parsed:
                continue
            above = _above(token, number_of_block) if token.dep else None
            head = tops.get(number_of_block[above.i]) if above is not None else None
            if not token.dep and token.head.i == token.i:
                row[HEAD] = row[DEPREL] = EMPTY
            elif head is not None:
                row[HEAD], row[DEPREL] = words[head][ID], FORMAT_SPACES.sub("_", token.dep_)
            elif root:  # sentences have one root
                row[HEAD], row[DEPREL] = str(root), "parataxis"
            else:
                row[HEAD], row[DEPREL], root = "0", "root", top + 1
        first += len(words)
        yield Sentence(sentence.comments, rows)


def _joined(words: list[list[str]], own: list[int], parsed: bool) -> int:
    """The word, from 0, that stands for words of the same token; the others hang below it."""
    if len(own) == 1 or not parsed:
        return own[0]
    numbers = {words[word][ID] for word in own}
    tops = [word for word in own if words[word][HEAD] not in numbers]
    if len(tops) == 1 and all(_leads(words, word, tops[0]) for word in own):
        return tops[0]
    for word in own[1:]:
        words[word][HEAD], words[word][DEPREL] = words[own[0]][ID], "flat"
    return own[0]


def _leads(words: list[list[str]], word: int, top: int) -> bool:
    """Whether the heads of a word lead to another."""
    for _ in words:
        if word == top:
            return True
        if words[word][HEAD] in (EMPTY, "0"):
            return False
        word = int(words[word][HEAD]) - 1
    return False


def _depth(token: Token) -> int:
    depth = 0
    while token.head.i != token.i and depth < len(token.doc):
        token, depth = token.head, depth + 1
    return depth


def _annotate(row: list[str], token: Token) -> None:
    """Write what a token has into the columns of its word, unless they say the same."""
    for column, value in ((LEMMA, _plain(token.lemma_)), (UPOS, token.pos_), (XPOS, token.tag_)):
        if value:
            row[column] = value if column == LEMMA else FORMAT_SPACES.sub("_", value)
    if token.morph and (row[FEATS] == EMPTY or not _same_features(row[FEATS], token)):
        row[FEATS] = _features(token)


def _same_features(feats: str, token: Token) -> bool:
    if feats == _features(token):
        return True
    return str(MorphAnalysis(token.vocab, feats)) == str(token.morph)
