"""Documents from CoNLL-U, and CoNLL-U from documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
from spacy.parts_of_speech import IDS as UPOS_TAGS
from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

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
    Rows,
    read_rows,
    spaces_after,
)
from spacy_nmparse.ud.extensions import UDWord, register_extensions, ud_words, value_of

#: Whether a multiword token, of this form and these words, becomes one token of spaCy.
Merges = Callable[[str, Sequence[str]], bool]

SPACES_AFTER = "SpacesAfter="
FEATURE = re.compile(r"[^=|]+=[^=|]+")
ESCAPES = {"\\": "\\\\", " ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p"}


def conllu_to_docs(
    source: Path | str | Iterable[str],
    vocab: Vocab,
    *,
    merge: bool | Merges = False,
    n_sents: int = 0,
    name: str = "the CoNLL-U text",
) -> Iterator[Doc]:
    """Read CoNLL-U into documents, with everything that a Doc can hold.

    ``root`` becomes ``ROOT``; ``_`` is no annotation. Multiword tokens, MISC and comments are in
    extensions of the tokens (``spacy_nmparse.ud.extensions``), so that ``doc_to_conllu`` writes
    them again. Empty nodes and enhanced dependencies are left out.

    Args:
        source: A file (UTF-8), CoNLL-U text, or its lines.
        vocab: The documents' vocabulary.
        merge: Whether a multiword token becomes one token, with its words in ``token._.ud_words``,
            rather than its words tokens of their own; or what decides that for each. A merged
            token has the annotation of the word that heads the others, and their tags (XPOS, or
            else UPOS) joined by underscores.
        n_sents: At most so many sentences in a document; 0: documents begin where ``# newdoc``
            says so. Where nothing does, the text is one document.
        name: What messages call the source; a file goes by its path.

    Yields:
        The documents.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not CoNLL-U: the line is named.
    """
    register_extensions()
    name = str(source) if isinstance(source, Path) else name
    merges: Merges = merge if callable(merge) else lambda form, words: bool(merge)
    group = _Columns()
    for rows in read_rows(source, name):
        if group.n_sents and (group.n_sents == n_sents or rows.starts("newdoc")):
            yield group.doc(vocab)
            group = _Columns()
        group.add(rows, merges, name)
    if group.n_sents:
        yield group.doc(vocab)


def doc_to_conllu(doc: Doc, *, confidence: bool = False, first: int = 1) -> str:
    """Write a document as CoNLL-U.

    Spaces that are tokens are no words: they are in MISC (``SpacesAfter``, with UDPipe's escapes).
    ``# text`` is made of the words; other comments, MISC and multiword tokens come from the
    extensions of the tokens (``spacy_nmparse.ud.extensions``).

    Args:
        doc: The document. Without sentence boundaries it is one sentence; what is not annotated
            is ``_``.
        confidence: Whether MISC has how sure the parser is of head and label
            (``HeadConfidence``, ``DepConfidence``), where the document has that.
        first: The ``sent_id`` of the first sentence that has no name; others are counted on.

    Returns:
        The sentences, with a blank line behind each.
    """
    return "".join(conllu_sentences(doc, confidence=confidence, first=first))


def conllu_sentences(doc: Doc, *, confidence: bool = False, first: int = 1) -> Iterator[str]:
    """The sentences that ``doc_to_conllu`` writes, one at a time; those of spaces are left out."""
    sure = confidences(doc) if confidence else None
    for sent in doc.sents if doc.has_annotation("SENT_START") else [doc[:]]:
        rows = sentence_rows(sent, sure)
        if rows:
            lines = [*_comments(sent, rows, first), *map("\t".join, rows)]
            yield "\n".join(lines) + "\n\n"
            first += 1


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
        span = _range(token, tokens[place:]) if not inside else None
        misc = _misc(token, sure)
        if span is not None:
            form, inside, own_misc = span
            last = _misc(tokens[place + inside - 1], None)
            items = [*_items(own_misc), *(item for item in last if item in _spacing(last))]
            rows.append(_row(f"{start}-{start + inside - 1}", form, misc=items))
        if inside:
            misc = [item for item in misc if item not in _spacing(misc)]
            inside -= 1
        head, deprel = _arc(token, numbers)
        if not words:
            rows.append(
                _row(
                    str(start),
                    _plain(token.text),
                    _plain(token.lemma_),
                    token.pos_,
                    token.tag_,
                    _features(token),
                    head,
                    deprel,
                    misc,
                )
            )
            continue
        rows.append(_row(f"{start}-{start + len(words) - 1}", _plain(token.text), misc=misc))
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
) -> list[str]:
    columns = (number, form, lemma, upos, xpos, feats, head, deprel, "", "|".join(misc))
    return [column or EMPTY for column in columns]


def _plain(text: str) -> str:
    """A form or lemma without the whitespace that columns cannot have."""
    return " ".join(text.split())


def _features(token: Token) -> str:
    """FEATS in the order of Universal Dependencies, which is not spaCy's."""
    return "|".join(sorted(str(token.morph).split("|"), key=str.lower))


def _arc(token: Token, numbers: dict[int, int]) -> tuple[str, str]:
    """HEAD and DEPREL of a token; "" where it has none."""
    if not token.dep and token.head.i == token.i:
        return "", ""
    head = token.head
    while head.text.isspace() and head.head.i != head.i:
        head = head.head
    if head.i == token.i and token.dep_.lower() != "root":
        return "0", token.dep_  # a treebank may have its own label for roots
    if head.text.isspace() or head.i == token.i or head.i not in numbers:
        return "0", "root"
    return str(numbers[head.i]), token.dep_


def _range(token: Token, following: Sequence[Token]) -> tuple[str, int, str] | None:
    """The multiword token that begins here and whose words are tokens, if it is whole."""
    found: Any = value_of(token, "ud_range")
    if found is None or len(following) < found[1]:
        return None
    form, n, misc = found
    neighbours = all(one.i + 1 == other.i for one, other in pairwise(following[:n]))
    return (form, n, misc) if neighbours else None


def _items(misc: str | None) -> list[str]:
    """The items of MISC but for those about spaces."""
    items = (misc or EMPTY).split("|")
    return [item for item in items if item not in (EMPTY, NO_SPACE)]


def _spacing(items: Sequence[str]) -> list[str]:
    return [item for item in items if item == NO_SPACE or item.startswith(SPACES_AFTER)]


def _misc(token: Token, sure: numpy.ndarray | None) -> list[str]:
    """The items of MISC."""
    known = value_of(token, "ud_misc")
    items = _items(known)
    doc = token.doc
    end, gap = token.i + 1, token.whitespace_
    while end < len(doc) and (space := doc[end]).is_space:
        gap += space.text_with_ws
        end += 1
    if end == len(doc):  # what follows the document is up to where it comes from
        if NO_SPACE in (known or "").split("|"):
            items.append(NO_SPACE)
    elif not gap:
        items.append(NO_SPACE)
    elif gap != " " and not _spacing(items):
        items.append(SPACES_AFTER + escaped(gap))
    if sure is not None:
        for key, value in zip(("HeadConfidence", "DepConfidence"), sure[:, token.i], strict=True):
            items.append(f"{key}={value:.3f}")
    return items


def escaped(spaces: str) -> str:
    """Whitespace as the value of ``SpacesAfter``; what UDPipe has no escape for, by its number."""
    return "".join(
        ESCAPES.get(sign) or (f"\\u{ord(sign):04x}" if sign.isspace() else sign) for sign in spaces
    )


def _comments(sent: Span, rows: Sequence[Sequence[str]], number: int) -> list[str]:
    """The comments of a sentence; the one of its text is written from its words."""
    known: Sequence[str] = ()
    for token in sent:
        known = value_of(token, "ud_comments") or ()
        if known or not token.text.isspace():
            break
    text, end = "", 0
    for row in rows:
        if row[ID].isdecimal() and int(row[ID]) <= end:
            continue
        if "-" in row[ID]:
            end = int(row[ID].partition("-")[2])
        text += row[FORM] + ("" if NO_SPACE in row[MISC].split("|") else " ")
    comments = Rows(list(known), [], [])
    lines = [c for c in comments.comments if c[1:].partition("=")[0].strip() != "text"]
    if comments.value("sent_id") is None:
        lines.append(f"# sent_id = {number}")
    return [*lines, f"# text = {text.rstrip()}"]


@dataclass
class _Columns:
    """Annotation of the tokens of sentences, to make a document of."""

    words: list[str] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)
    lemmas: list[str] = field(default_factory=list)
    pos: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    morphs: list[str] = field(default_factory=list)
    heads: list[int | None] = field(default_factory=list)
    deps: list[str] = field(default_factory=list)
    starts: list[bool] = field(default_factory=list)
    extensions: list[tuple[int, str, Any]] = field(default_factory=list)
    n_sents: int = 0

    def add(self, rows: Rows, merges: Merges, name: str) -> None:
        """Add a sentence."""
        base = len(self.words)
        self.n_sents += 1
        words = rows.words
        spaces = spaces_after(rows.rows)
        lines = dict(zip(map(id, rows.rows), rows.lines, strict=True))
        for row in words:
            if row[UPOS] != EMPTY and row[UPOS] not in UPOS_TAGS:
                raise ValueError(
                    f"{name}, line {lines[id(row)]}: {row[UPOS]!r} is no part of speech of "
                    f"Universal Dependencies (UPOS)."
                )
            if row[FEATS] != EMPTY and not all(map(FEATURE.fullmatch, row[FEATS].split("|"))):
                raise ValueError(
                    f"{name}, line {lines[id(row)]}: the features {row[FEATS]!r} are not "
                    f"NAME=VALUE|NAME=VALUE (FEATS)."
                )
        groups = _groups(rows, merges)
        token_of = [number for number, group in enumerate(groups) for _ in group.words]
        for number, group in enumerate(groups):
            first = group.words[0]
            chosen = first if len(group.words) == 1 else group.highest(words)
            row = words[chosen]
            head = None if row[HEAD] == EMPTY else int(row[HEAD]) - 1
            self.words.append(group.form)
            self.spaces.append(spaces[group.words[-1]])
            known = row[LEMMA] != EMPTY or row[FORM] == EMPTY
            self.lemmas.append(row[LEMMA] if known else "")
            self.pos.append("" if row[UPOS] == EMPTY else row[UPOS])
            self.morphs.append("" if row[FEATS] == EMPTY else row[FEATS])
            self.tags.append(group.tag(words))
            self.starts.append(not number)
            if head is None:
                self.heads.append(None)
                self.deps.append("")
            else:
                self.heads.append(base + (number if head < 0 else token_of[head]))
                label = "dep" if row[DEPREL] == EMPTY else row[DEPREL]
                self.deps.append("ROOT" if head < 0 and label == "root" else label)
            for key, value in group.extensions(words, chosen):
                self.extensions.append((base + number, key, value))
        if rows.comments:
            self.extensions.append((base, "ud_comments", rows.comments))

    def doc(self, vocab: Vocab) -> Doc:
        """The document."""
        tree: dict[str, Any] = {"sent_starts": self.starts}
        if any(head is not None for head in self.heads):
            heads = [i if head is None else head for i, head in enumerate(self.heads)]
            tree = {"heads": heads, "deps": self.deps}
        doc = Doc(
            vocab,
            words=self.words,
            spaces=self.spaces,
            tags=self.tags if any(self.tags) else None,
            pos=self.pos if any(self.pos) else None,
            morphs=self.morphs if any(self.morphs) or any(self.pos) else None,
            lemmas=self.lemmas if any(self.lemmas) else None,
            **tree,
        )
        for place, key, value in self.extensions:
            doc[place]._.set(key, value)
        return doc


@dataclass(frozen=True)
class _Group:
    """Words that are one token, or a word by itself.

    Attributes:
        form: The token's form.
        words: Numbers of its words, from 0.
        misc: Its column MISC.
        span: The form, length and MISC of the multiword token that begins here and is not merged.
    """

    form: str
    words: range
    misc: str
    span: tuple[str, int, str] | None = None

    def highest(self, words: Sequence[Sequence[str]]) -> int:
        """The word nearest to the root of the sentence: with its head, tokens are a tree again."""

        def depth(word: int) -> int:
            steps = 0
            while words[word][HEAD] not in ("0", EMPTY) and steps < len(words):
                word = int(words[word][HEAD]) - 1
                steps += 1
            return steps

        return min(self.words, key=depth)

    def tag(self, words: Sequence[Sequence[str]]) -> str:
        """The tags of the words, joined; of several, UPOS where there is no XPOS."""
        columns = (XPOS, UPOS) if len(self.words) > 1 else (XPOS,)
        tags = (
            next((words[i][column] for column in columns if words[i][column] != EMPTY), "")
            for i in self.words
        )
        return "_".join(filter(None, tags))

    def extensions(self, words: Sequence[Sequence[str]], chosen: int) -> Iterator[tuple[str, Any]]:
        """What the token's extensions hold."""
        if self.misc != EMPTY:
            yield "ud_misc", self.misc
        if self.span is not None:
            yield "ud_range", list(self.span)
        if len(self.words) == 1:
            return
        found = []
        for i in self.words:
            row = words[i]
            lemma, upos, xpos, feats = (
                "" if row[c] == EMPTY else row[c] for c in (LEMMA, UPOS, XPOS, FEATS)
            )
            head = -1 if row[HEAD] == EMPTY else int(row[HEAD]) - 1
            # A word with another head outside goes to the one that stands for the token.
            inside = head - self.words[0] if head in self.words else chosen - self.words[0]
            up = -1 if i == chosen else inside
            found.append(list(UDWord(row[FORM], lemma, upos, xpos, feats, up, row[DEPREL])))
        yield "ud_words", found


def _groups(rows: Rows, merges: Merges) -> list[_Group]:
    """The words of a sentence as tokens."""
    groups: list[_Group] = []
    span: tuple[str, int, str] | None = None
    skipped = 0  # words before this one are in a merged token
    words = rows.words
    for row in rows.rows:
        if "-" in row[ID]:
            first, last = (int(part) for part in row[ID].split("-"))
            if merges(row[FORM], [word[FORM] for word in words[first - 1 : last]]):
                groups.append(_Group(row[FORM], range(first - 1, last), row[MISC]))
                skipped = last
            else:
                span = (row[FORM], last - first + 1, row[MISC])
        elif row[ID].isdecimal() and int(row[ID]) > skipped:
            i = int(row[ID]) - 1
            groups.append(_Group(row[FORM], range(i, i + 1), row[MISC], span))
            span = None
    return groups
