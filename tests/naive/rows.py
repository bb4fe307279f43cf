"""Rows of CoNLL-U from documents, word by word in Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy
from spacy.tokens import Doc, MorphAnalysis, Token

from spacy_nmparse.pipe.known import is_known
from spacy_nmparse.ud.conllu import EMPTY, LEMMA, MISC, NO_SPACE, Sentence
from spacy_nmparse.ud.extensions import is_extension, ud_range, ud_words, value_of

SPACES_BEFORE, SPACES_AFTER, SPACES_IN = "SpacesBefore=", "SpacesAfter=", "SpacesInToken="
CONFIDENCES = ("HeadConfidence", "DepConfidence")
ESCAPES = {"\\": "\\\\", " ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p"}


def document_rows(
    doc: Doc, sure: numpy.ndarray | None = None
) -> Iterator[tuple[str, list[list[str]]]]:
    """The texts and rows of the sentences of a document."""
    columns = Columns(doc)
    for sent in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
        tokens = [i for i in range(sent.start, sent.end) if not columns.is_space[i]]
        if tokens:
            rows = _sentence_rows(doc, tokens, columns, sure)
            yield Sentence([], rows).text, rows


class Columns:
    """The columns of each token."""

    def __init__(self, doc: Doc) -> None:
        self.texts = [token.text for token in doc]
        self.is_space = list(map(str.isspace, self.texts))
        self.forms = [plain(token.text) or EMPTY for token in doc]
        self.lemmas = [plain(token.lemma_) or EMPTY for token in doc]
        self.upos = [token.pos_ or EMPTY for token in doc]
        self.xpos = [joined(token.tag_) or EMPTY for token in doc]
        self.feats = [features(token.morph) or EMPTY for token in doc]
        self.deprels = [joined(token.dep_) or EMPTY for token in doc]
        self.heads = [token.head.i if token.dep else token.i for token in doc]
        self.gaps = [token.whitespace_ for token in doc]
        for i in range(len(doc) - 1, 0, -1):
            if self.is_space[i]:
                self.gaps[i - 1] += self.texts[i] + self.gaps[i]
        self.n_leading = [*self.is_space, False].index(False)
        told = {key[2] for key in doc.user_data if is_extension(key)}
        self.told = {token.i for token in doc if token.idx in told}


def plain(text: str) -> str:
    return re.sub(r"[ \t\r\n]+", " ", text).strip(" ")


def joined(text: str) -> str:
    return re.sub(r"[ \t\r\n]+", "_", text)


def features(morph: MorphAnalysis) -> str:
    return joined("|".join(sorted(str(morph).split("|"), key=str.lower)))


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
        head, deprel = _arc(doc[i], columns, numbers)
        if not words:
            values = [columns.lemmas[i], columns.upos[i], columns.xpos[i], columns.feats[i]]
            written = plain("|".join(misc)) or EMPTY
            rows.append([str(start), columns.forms[i], *values, head, deprel, EMPTY, written])
            continue
        last_word = start + len(words) - 1
        rows.append(_range(f"{start}-{last_word}", columns.forms[i], misc, doc[i]))
        for k, word in enumerate(words):
            arc = (head, deprel) if word.head < 0 else (str(start + word.head), word.deprel)
            values = [*map(plain, word[:2]), *map(joined, word[2:5]), *map(joined, arc)]
            rows.append([str(start + k), *(value or EMPTY for value in values), EMPTY, EMPTY])
    return rows


def _range(number: str, form: str, misc: Sequence[str], token: Token) -> list[str]:
    """The row of a multiword token; `token` has its columns, if they are known."""
    columns = value_of(token, "ud_columns") or [EMPTY] * (MISC - LEMMA)
    return [number, plain(form), *columns, plain("|".join(misc)) or EMPTY]


def _arc(token: Token, columns: Columns, numbers: dict[int, int]) -> tuple[str, str]:
    """HEAD and DEPREL of a token; ``_`` where it has none."""
    i = token.i
    label, below = columns.deprels[i], columns.heads[i] != i
    if label == EMPTY and not below:
        return EMPTY, EMPTY
    head = _above(i, columns, numbers)
    if head is None and below:
        return "0", "root"
    if head is None:
        label = "root" if label in (EMPTY, "ROOT") else label
        return "0", joined(value_of(token, "ud_root") or label)
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
    if is_known(doc[i]) and not {"KnownHead=Yes", "Confirmed=Yes"} & set(items):
        items.append("KnownHead=Yes")
    return items + _confidence(sure, i)


def _confidence(sure: numpy.ndarray | None, i: int) -> list[str]:
    if sure is None:
        return []
    return [f"{key}={value:.3f}" for key, value in zip(CONFIDENCES, sure[:, i], strict=True)]


def escaped(spaces: str) -> str:
    """Whitespace as the value of ``SpacesAfter``; what UDPipe has no escape for, by its number."""
    return "".join(
        ESCAPES.get(sign) or (f"\\u{ord(sign):04x}" if sign.isspace() else sign) for sign in spaces
    )
