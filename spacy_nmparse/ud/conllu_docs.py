"""Documents from CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy
from spacy.attrs import IDX, SENT_START
from spacy.parts_of_speech import IDS as UPOS_TAGS
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_nmparse.pipe.doc_io import PRESET, is_partial, note_tokens
from spacy_nmparse.pipe.roots import EXTENSION, ROOT_LABEL, TREEBANK_ROOT
from spacy_nmparse.ud.conllu import (
    COLUMNS,
    DEPREL,
    EMPTY,
    FEATS,
    FORM,
    HEAD,
    ID,
    LEMMA,
    MISC,
    PLUS,
    UPOS,
    XPOS,
    Sentence,
    columns_comment,
    depths,
    parts_of,
    read_rows,
)
from spacy_nmparse.ud.extensions import UDWord, register_extensions

#: Whether a multiword token, of this form and these words, becomes one token of spaCy.
Merges = Callable[[str, Sequence[str]], bool]

UPOS_OR_NONE = {*UPOS_TAGS, EMPTY}
FEATURE = re.compile(r"[^=|]+=[^=|]+")


def conllu_to_docs(
    source: Path | str | Iterable[str],
    vocab: Vocab,
    *,
    merge: bool | Merges = False,
    n_sents: int = 0,
    name: str = "the CoNLL-U text",
    check: Callable[[Sentence, str], None] | None = None,
) -> Iterator[Doc]:
    """Read CoNLL-U into documents, with everything that a Doc can hold.

    Blank lines decide the sentences, whatever the heads say. The label of a root becomes ``ROOT``;
    ``_`` is no annotation. Labels of roots other than ``root``, multiword tokens, MISC and comments
    are in extensions of the tokens (``spacy_nmparse.ud.extensions``), so that ``doc_to_conllu``
    writes them again. Empty nodes and enhanced dependencies are left out.

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
        check: Called with each sentence and the name; it may refuse the sentence.

    Yields:
        The documents.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not CoNLL-U: the line is named.
    """
    name = str(source) if isinstance(source, Path) else name
    for group in grouped(read_rows(source, name), n_sents):
        if check is not None:
            for sentence in group:
                check(sentence, name)
        yield sentences_to_doc(group, vocab, merge=merge, name=name)


def grouped(sentences: Iterable[Sentence], n_sents: int) -> Iterator[list[Sentence]]:
    """The sentences of each document: at most so many, or 0, as in ``conllu_to_docs``."""
    group: list[Sentence] = []
    for sentence in sentences:
        if group and (len(group) == n_sents or sentence.starts("newdoc")):
            yield group
            group = []
        group.append(sentence)
    if group:
        yield group


def sentences_to_doc(
    sentences: Iterable[Sentence],
    vocab: Vocab,
    *,
    merge: bool | Merges = False,
    name: str = "the CoNLL-U text",
) -> Doc:
    """Make a document of sentences, as ``conllu_to_docs`` does."""
    register_extensions()
    merges: Merges = merge if callable(merge) else lambda form, words: bool(merge)
    columns = _Tokens()
    for sentence in sentences:
        columns.add(sentence, merges, name)
    return columns.doc(vocab)


@dataclass
class _Tokens:
    """Annotation of the tokens of sentences, to make a document of.

    Attributes:
        tokens: Of each token the text, whether a space follows, lemma, part of speech, tag,
            features, head (None: unknown), label, and whether a sentence starts.
        extensions: The numbers of tokens, names and values.
    """

    tokens: list[tuple[Any, ...]] = field(default_factory=list)
    extensions: list[tuple[int, str, Any]] = field(default_factory=list)

    def add(self, sentence: Sentence, merges: Merges, name: str) -> None:
        """Add a sentence."""
        base = len(self.tokens)
        words = sentence.words
        spaces = sentence.spaces
        for row in words:
            if not (row[UPOS] in UPOS_OR_NONE and _are_features(row[FEATS])):
                _refuse(row, f"{name}, line {sentence.lines[sentence.rows.index(row)]}")
        groups = _groups(sentence, merges)
        token_of: Sequence[int] = range(len(words))
        if len(groups) < len(words):
            heads = (row[HEAD] for row in words)
            depth = depths([i if h in ("0", EMPTY) else int(h) - 1 for i, h in enumerate(heads)])
            token_of = [number for number, group in enumerate(groups) for _ in group.words]
        for number, group in enumerate(groups):
            chosen = group.words[0]
            if len(group.words) > 1:
                # With the head of the word nearest to the root, tokens are a tree again.
                chosen = min(group.words, key=depth.__getitem__)
            row = words[chosen]
            _, form, lemma, upos, tag, feats, above, label, *_ = row
            if len(group.words) > 1:
                tag = group.tag(words)
            if above == EMPTY:
                head, label = None, ""
            elif above == "0":
                head = base + number
                if label not in (EMPTY, TREEBANK_ROOT):
                    self.extensions.append((head, EXTENSION, label))
                label = ROOT_LABEL
            else:
                head = base + token_of[int(above) - 1]
                label = "dep" if label == EMPTY else label
            lemma = "" if lemma == EMPTY != form else lemma
            upos, tag, feats = ["" if value == EMPTY else value for value in (upos, tag, feats)]
            space, begins = spaces[group.words[-1]], not number
            self.tokens.append((group.form, space, lemma, upos, tag, feats, head, label, begins))
            if group.misc != EMPTY or group.whole is not None:
                for key, value in group.extensions(words, chosen):
                    self.extensions.append((base + number, key, value))
        comments = sentence.comments
        if len(sentence.rows[0]) > len(COLUMNS):  # a document has no others
            ten = columns_comment(COLUMNS)
            comments = [ten if parts_of(one)[0] == PLUS else one for one in comments]
        if comments:
            self.extensions.append((base, "ud_comments", comments))

    def doc(self, vocab: Vocab) -> Doc:
        """The document."""
        words, spaces, lemmas, pos, tags, morphs, heads, deps, begins = zip(
            *self.tokens, strict=True
        )
        tree: dict[str, Any] = {}
        if any(head is not None for head in heads):
            known = [i if head is None else head for i, head in enumerate(heads)]
            tree = {"heads": known, "deps": list(deps)}
        doc = Doc(
            vocab,
            words=list(words),
            spaces=list(spaces),
            tags=list(tags) if any(tags) else None,
            pos=list(pos) if any(pos) else None,
            morphs=list(morphs) if any(morphs) or any(pos) else None,
            lemmas=list(lemmas) if any(lemmas) else None,
            **tree,
        )
        # spaCy would take them from the heads, which may be unknown, or have several roots
        starts: Any = numpy.where(begins, 1, -1).reshape(-1, 1)
        doc.from_array([SENT_START], starts.astype("uint64"))
        data: Any = doc.user_data
        if is_partial(doc):  # and would again, when the document is read back
            data[PRESET] = starts.astype("int8").tobytes()
            note_tokens(doc)
        if self.extensions:
            places = doc.to_array(IDX).tolist()
            data.update((("._.", key, places[i], None), value) for i, key, value in self.extensions)
        return doc


@lru_cache(1 << 14)
def _are_features(value: str) -> bool:
    return value == EMPTY or all(map(FEATURE.fullmatch, value.split("|")))


def _refuse(row: list[str], where: str) -> None:
    if row[UPOS] not in UPOS_OR_NONE:
        raise ValueError(
            f"{where}: {row[UPOS]!r} is no part of speech of Universal Dependencies (UPOS)."
        )
    raise ValueError(f"{where}: the features {row[FEATS]!r} are not NAME=VALUE|NAME=VALUE (FEATS).")


class _Group(NamedTuple):
    """Words that are one token, or a word by itself.

    Attributes:
        form: The token's form.
        words: Numbers of its words, from 0.
        misc: Its column MISC.
        whole: The row of the multiword token that it is, or that begins here.
    """

    form: str
    words: Sequence[int]
    misc: str
    whole: list[str] | None = None

    def tag(self, words: Sequence[Sequence[str]]) -> str:
        """The tags of several words, joined; UPOS where there is no XPOS."""
        tags = (
            next((words[i][column] for column in (XPOS, UPOS) if words[i][column] != EMPTY), "")
            for i in self.words
        )
        return "_".join(filter(None, tags))

    def extensions(self, words: Sequence[Sequence[str]], chosen: int) -> Iterator[tuple[str, Any]]:
        """What the token's extensions hold."""
        if self.misc != EMPTY:
            yield "ud_misc", self.misc
        if self.whole is None:
            return
        if any(value != EMPTY for value in self.whole[LEMMA:MISC]):
            yield "ud_columns", self.whole[LEMMA:MISC]
        if len(self.words) == 1:
            first, last = map(int, self.whole[ID].split("-"))
            yield "ud_range", [self.whole[FORM], last - first + 1, self.whole[MISC]]
            yield "ud_form", "".join(row[FORM] for row in words[first - 1 : last])
            return
        yield "ud_form", self.form
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


def _groups(sentence: Sentence, merges: Merges) -> list[_Group]:
    """The words of a sentence as tokens."""
    groups: list[_Group] = []
    whole: list[str] | None = None
    skipped = 0  # words before this one are in a merged token
    words = sentence.words
    if len(words) == len(sentence.rows):
        return [_Group(row[FORM], (i,), row[MISC]) for i, row in enumerate(words)]
    for row in sentence.rows:
        if "-" in row[ID]:
            first, last = (int(part) for part in row[ID].split("-"))
            if merges(row[FORM], [word[FORM] for word in words[first - 1 : last]]):
                groups.append(_Group(row[FORM], range(first - 1, last), row[MISC], row))
                skipped = last
            else:
                whole = row
        elif row[ID].isdecimal() and int(row[ID]) > skipped:
            i = int(row[ID]) - 1
            groups.append(_Group(row[FORM], (i,), row[MISC], whole))
            whole = None
    return groups
