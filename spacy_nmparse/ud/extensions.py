"""What CoNLL-U says of words beyond spaCy's attributes: extensions of ``Token``.

``token._.ud_words``
    The words that a multiword token stands for, a list of ``UDWord``; None: it is one word.
``token._.ud_range``
    On the first of several tokens that are the words of one multiword token: its form, how many
    words it has, and its column MISC.
``token._.ud_form``
    The letters that ``ud_words`` or ``ud_range`` speak of: what tokens with other letters, merged
    or split, are told by them no longer counts.
``token._.ud_columns``
    With them, the columns LEMMA to DEPS of the multiword token's row, where they are not all ``_``.
``token._.ud_misc``
    The column MISC.
``token._.ud_comments``
    The comments before the sentence that begins here.
``token._.ud_root``
    The label of a root, where that is not ``root`` (``spacy_nmparse.pipe.roots``).

And one of ``Doc``:

``doc._.ud_treebank``
    The name of the treebank that a document is of, where a pipeline learns from several; None: of
    the first one (``spacy_nmparse.layers.treebanks``).

They stay with a Doc wherever its ``user_data`` does, at their place in the text. ``Span.as_doc``
loses them: ``split_doc`` does not.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeGuard

from spacy.attrs import IDX
from spacy.tokens import Doc, Token

from spacy_nmparse.layers.treebanks import copy_treebank
from spacy_nmparse.pipe.roots import EXTENSION, register_extension
from spacy_nmparse.pipe.spans import split_groups, write_groups

OWN, BESIDE = -1, -2


class UDWord(NamedTuple):
    """A word of a multiword token, in the terms of CoNLL-U.

    head: the number, from 0, of the word in the token that heads it; OWN (-1): the token's head
        does, and the word stands for the token: one has that. BESIDE (-2): the token's head does,
        too; where the token is a root, the word that stands for it.
    """

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    deprel: str


#: But for ``ud_root``, which parsers set.
EXTENSIONS = ("ud_words", "ud_range", "ud_form", "ud_columns", "ud_misc", "ud_comments")


def register_extensions() -> None:
    """Make the extensions, unless they are there; None where nothing was set."""
    register_extension()
    for name in EXTENSIONS:
        if not Token.has_extension(name):
            Token.set_extension(name, default=None)


def is_extension(key: Any) -> TypeGuard[tuple[Any, ...]]:
    """Whether an entry of ``doc.user_data`` is of an extension, of whatever name."""
    return isinstance(key, tuple) and len(key) == 4 and key[0] == "._."


def told_of(doc: Doc) -> list[dict[str, Any]]:
    """The values of each token's extensions, by their names; an empty list, where none has any."""
    told: dict[Any, dict[str, Any]] = {}
    for key, value in doc.user_data.items():
        if is_extension(key) and key[3] is None:
            told.setdefault(key[2], {})[key[1]] = value
    return [told.get(place, {}) for place in doc.to_array(IDX).tolist()] if told else []


def ud_words(token: Token) -> list[UDWord]:
    """The words that a token stands for; none, where it is one word."""
    found = value_of(token, "ud_words")
    if not found or value_of(token, "ud_form") not in (None, token.text):
        return []
    return [UDWord(*word) for word in found]


def ud_range(token: Token) -> tuple[str, int, str] | None:
    """The form, number of tokens and MISC of the multiword token that begins here; None: none does,
    or its words are not these tokens any more."""
    found = value_of(token, "ud_range")
    if found is None:
        return None
    form, n, misc = found
    tokens = token.doc[token.i : token.i + n]
    letters = value_of(token, "ud_form") or form
    whole = len(tokens) == n and tokens.text == letters
    return (form, n, misc) if whole else None


def value_of(token: Token, name: str) -> Any:
    """The value of an extension; None: nothing was set."""
    data: Any = token.doc.user_data
    return data.get(("._.", name, token.idx, None))


def multiword_ranges(doc: Doc) -> dict[int, int]:
    """How many tokens each multiword token of several tokens has, by its first one's number."""
    found = {}
    if doc.user_data:
        for token in doc:
            if (span := value_of(token, "ud_range")) is not None:
                found[token.i] = span[1]
    return found


def in_multiword_tokens(doc: Doc) -> set[int]:
    """The numbers of the tokens that stand for several words, or are words of a multiword token."""
    found = {i for first, n in multiword_ranges(doc).items() for i in range(first, first + n)}
    if doc.user_data:
        found |= {token.i for token in doc if value_of(token, "ud_words")}
    return found


def copy_words(source: Doc, target: Doc) -> bool:
    """Give a document the words and ranges of multiword tokens, and the labels of roots, that
    another one has, as augmenters make it: some tokens in lower case, or with other letters (then
    their words are not told), or more tokens of spaces. Returns False where it has other tokens,
    and any of these are lost."""
    given = [token for token in source if not token.is_space]
    tokens = [token for token in target if not token.is_space]
    if len(given) != len(tokens):
        has_own = any(value_of(token, EXTENSION) for token in given)
        return not has_own and not in_multiword_tokens(source)
    for old, new in zip(given, tokens, strict=True):
        words, span = ud_words(old), ud_range(old)
        n = span[1] if span else 1
        before, text = source[old.i : old.i + n].text, target[new.i : new.i + n].text
        data: Any = target.user_data
        if root := value_of(old, EXTENSION):
            data["._.", EXTENSION, new.idx, None] = root
        if (not words and not span) or text not in (before, before.lower()):
            continue
        low = text != before
        found = {"ud_form": text, "ud_columns": value_of(old, "ud_columns")}
        if span:
            found["ud_range"] = [span[0].lower() if low else span[0], *span[1:]]
        if words:
            found["ud_words"] = [[one[0].lower() if low else one[0], *one[1:]] for one in words]
        for name, value in found.items():
            if value is not None:
                data["._.", name, new.idx, None] = value
    return True


def split_doc(doc: Doc) -> Iterator[Doc]:
    """The sentences of a document as documents, with the extensions of their tokens and spans, and
    with their groups of spans, but for spans that go over a boundary; the document itself, where it
    is one sentence or its sentences are not known."""
    sents = list(doc.sents) if doc.has_annotation("SENT_START") else []
    if len(sents) < 2:
        yield doc
        return
    starts = [sent.start_char for sent in sents]
    data: list[dict[Any, Any]] = [{} for _ in sents]
    for key, value in doc.user_data.items():
        if is_extension(key) and key[2] is not None:
            place = max(0, bisect_right(starts, key[2]) - 1)
            end = None if key[3] is None else key[3] - starts[place]
            data[place][(*key[:2], key[2] - starts[place], end)] = value
    for sent, own, groups in zip(sents, data, split_groups(doc, sents), strict=True):
        part = sent.as_doc()
        part.user_data = own
        write_groups(part, groups, sent.start_char)
        copy_treebank(doc, part)
        yield part
