"""Whatever goes in comes out: properties, on drawn documents, CoNLL-U and texts, and on real files.

``NMPARSE_TREEBANKS=FOLDER`` names a folder of treebanks, all of whose files are read.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
from hypothesis import assume, given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_nmparse.pipe.confidence import KEY
from spacy_nmparse.pipe.known import NAME as KNOWN
from spacy_nmparse.ud import conllu_to_docs, doc_to_conllu
from spacy_nmparse.ud.conllu import DEPS, HEAD, ID, MISC, Sentence, read_rows
from spacy_nmparse.ud.extensions import register_extensions
from spacy_nmparse.ud.parse_inputs import Stretch, conllu_items
from spacy_nmparse.ud.plain_text import text_items
from tests.hostile import PROFILE
from tests.pipe.common import tiny_parser
from tests.validator import format_errors

COLUMNS = ("words", "spaces", "heads", "deps", "lemmas", "pos", "tags", "morphs")

FOLDER = os.environ.get("NMPARSE_TREEBANKS", "")

SPACE = st.sampled_from([" ", "\n", "\t", "\r", "\u00a0", "\u3000", "\u2028", "\x1f", "\x85"])
LETTER = st.sampled_from([*"aB1.,_-|\\=#'\"<&", "é", "猫", "א", "\u0301", "\u200d", "🐈", "\u00a0"])
FORM = st.text(LETTER, min_size=1, max_size=4).filter(lambda form: not form.isspace())
NAME = st.text(st.sampled_from("aBc1"), min_size=1, max_size=3)
UPOS = st.sampled_from(["NOUN", "VERB", "PUNCT", "X"])
LABEL = st.sampled_from(["nsubj", "obj", "obl:a", "punct", "dep"])
FEATS = st.sampled_from(["", "Case=Nom", "Case=Nom|Number=Sing", "NumForm=Word|NumType=Card"])


#: Items of MISC that writing adds.
ADDED = re.compile("KnownHead|HeadConfidence|DepConfidence")

register_extensions()


@cache
def parser() -> Language:
    """One that parses at random, and finds sentences."""
    return tiny_parser("nm_parser", 1)


def draw_tree(draw: Callable[..., Any], n: int) -> list[int]:
    """The heads of n words, from 0; the root is its own."""
    order = draw(st.permutations(range(n)))
    heads = [0] * n
    for place, word in enumerate(order):
        heads[word] = order[draw(st.integers(0, place - 1))] if place else word
    return heads


# Documents


@st.composite
def documents(draw: st.DrawFn) -> Doc:
    """A document with any annotation, spaces as tokens, and sentences."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    texts = (FORM, st.text(SPACE, min_size=1, max_size=3))
    for n in draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)):
        base, places = len(columns["words"]), []
        for _ in range(n):
            places.append(len(columns["words"]))
            for text in texts[: 1 + (draw(st.integers(0, 4)) == 0)]:
                columns["words"].append(draw(text))
                columns["spaces"].append(draw(st.booleans()))
        heads, own = draw_tree(draw, n), 0
        for i in range(base, len(columns["words"])):
            word = i in places
            own = places.index(i) if word else own
            head = places[heads[own]] if word else places[own]
            dep = "ROOT" if head == i else draw(LABEL)
            rest = tuple(map(draw, (NAME, UPOS, NAME, FEATS))) if word else ("", "SPACE", "", "")
            for name, value in zip(COLUMNS[2:], (head, dep, *rest), strict=True):
                columns[name].append(value)
    for names in (("heads", "deps"), ("lemmas",), ("pos",), ("tags",), ("morphs",)):
        if draw(st.integers(0, 4)) == 0:
            for name in names:
                del columns[name]
    return Doc(spacy.blank("xx").vocab, **columns)


def annotation(doc: Doc) -> list[Any]:
    """What a document says of its words."""
    words = [token for token in doc if not token.text.isspace()]
    number = {token.i: word for word, token in enumerate(words)}
    parsed = doc.has_annotation("DEP")
    return [
        (
            *(token.text, token.lemma_.replace("_", ""), token.pos_, token.tag_, str(token.morph)),
            *((number[token.head.i], token.dep_, token.is_sent_start) if parsed else ()),
        )
        for token in words
    ]


@PROFILE
@given(documents())
def test_any_document(doc: Doc) -> None:
    conllu = doc_to_conllu(doc)
    (back,) = conllu_to_docs(conllu, doc.vocab)
    assert annotation(back) == annotation(doc)
    assert doc_to_conllu(back) == conllu
    assert restored(conllu).rstrip() == doc.text.rstrip()


OWN_MISC = st.lists(
    st.sampled_from(
        [
            *("SpaceAfter=No", "_", "Gloss=a b", "SpacesAfter=\\n", "SpacesBefore=\\s"),
            *("SpacesInToken=a", "Confirmed=Yes", "HeadConfidence=0.500", "\t", "", " "),
        ]
    ),
    max_size=3,
).map("|".join)


@PROFILE
@given(documents(), st.data())
def test_any_extensions(doc: Doc, data: st.DataObject) -> None:
    """Whatever they are: each row has ten columns, and a word or a range."""
    draw = data.draw
    for token in doc:
        if draw(st.booleans()):
            token._.ud_misc = draw(OWN_MISC)
        if draw(st.booleans()):
            texts = [draw(st.sampled_from(["", "a", "a b", "\tb"])) for _ in range(5)]
            token._.ud_words = [
                [*texts, top, "x y"] for top in (-1, 0, 1)[: draw(st.integers(1, 3))]
            ]
        if draw(st.booleans()):
            token._.ud_range = [token.text, draw(st.integers(1, 4)), draw(OWN_MISC)]
        token._.ud_form = draw(st.sampled_from([None, token.text, "other"]))
        token._.ud_root = draw(st.sampled_from([None, "Pred", "a b"]))
        token._.ud_columns = draw(st.sampled_from([None, ["l", "X", *"_____"]]))
    lines = [line for line in doc_to_conllu(doc).split("\n") if line and line[0] != "#"]
    for columns in (line.split("\t") for line in lines):
        assert len(columns) == 10 and all(columns)
        assert re.fullmatch(r"\d+(-\d+)?", columns[0])


# CoNLL-U


@st.composite
def sentences(draw: st.DrawFn, number: int) -> str:
    """A sentence of CoNLL-U, with ranges, empty nodes, comments and MISC."""
    n = draw(st.integers(1, 5))
    heads = draw_tree(draw, n)
    rows: list[str] = []
    text, end = "", 0

    def some(*items: str) -> list[str]:
        return draw(st.lists(st.sampled_from(items), max_size=2, unique=True))

    def last_column(has_space: bool) -> str:
        items = some("Gloss=a b", "X", "Ref=1-2", "Y=\\p")
        if not has_space:
            items.insert(draw(st.integers(0, len(items))), "SpaceAfter=No")
        return "|".join(items) or "_"

    for i in range(n):
        if draw(st.integers(0, 7)) == 0:
            rows.append(f"{i}.1\t{draw(FORM)}" + "\t_" * 8)
        word, space = draw(FORM), draw(st.booleans())
        if i >= end and i + 1 < n and draw(st.integers(0, 3)) == 0:
            form, end = draw(FORM), draw(st.integers(i + 2, n))
            columns = draw(st.sampled_from(["_\t_\t_\t_", "l\tX\tT\tTypo=Yes"]))
            rows.append(f"{i + 1}-{end}\t{form}\t{columns}\t_\t_\t_\t{last_column(space)}")
            text += form + " " * space
        elif i >= end:
            text += word + " " * space
        head, label = (0, "root") if heads[i] == i else (heads[i] + 1, draw(LABEL))
        row = [str(i + 1), word, draw(NAME), draw(UPOS), "_", draw(FEATS) or "_", str(head), label]
        rows.append("\t".join([*row, "_", "_" if i < end else last_column(space)]))
    comments = [*some("# speaker = A", "#x", "# newpar"), f"# sent_id = s{number}"]
    comments.append(f"# text = {text.rstrip(' ')}")
    return "\n".join([*draw(st.permutations(comments)), *rows]) + "\n\n"


@st.composite
def treebanks(draw: st.DrawFn) -> str:
    """CoNLL-U that the official validator accepts."""
    numbers = range(draw(st.integers(1, 3)))
    conllu = "".join(
        draw(sentences(number).filter(lambda text: not format_errors(text))) for number in numbers
    )
    assume(not format_errors(conllu))
    return conllu


def given_parts(conllu: str) -> list[Any]:
    """What a parser does not decide: comments, words, ranges, empty nodes, MISC."""
    return [
        (one.comments, [[*row[: 2 if row[ID].isdecimal() else 7], *row[DEPS:]] for row in one.rows])
        for one in read_rows(conllu)
    ]


def parsed(text: str, kind: str, nlp: Language) -> str:
    """CoNLL-U of an input, parsed."""
    docs = []
    file = io.BytesIO(text.encode())
    items = text_items(file, "a", "a", kind == "lines")
    for item in conllu_items(Stretch(file.read()), nlp.vocab, "a") if kind == "conllu" else items:
        doc = nlp(item.to_parse())
        item.finish(doc)
        docs.append(doc)
    return "".join(doc_to_conllu(doc, first=100 * i + 1) for i, doc in enumerate(docs))


@PROFILE
@given(treebanks())
def test_any_conllu(conllu: str) -> None:
    out = parsed(conllu, "conllu", parser())
    assert given_parts(out) == given_parts(conllu)
    assert format_errors(out, level=1) == []
    for text in (conllu, conllu.replace("\troot\t", "\tPred\t")):
        assert "".join(map(doc_to_conllu, conllu_to_docs(text, Vocab()))) == without_enhanced(text)


@PROFILE
@given(treebanks(), st.data())
def test_any_words_in_tokens(conllu: str, data: st.DataObject) -> None:
    """Words of multiword tokens that are one token keep all but their arcs; known heads are marked,
    and confidences written, once a token."""
    kept = list(read_rows(without_enhanced(conllu)))
    n_known, found = 0, ""
    for doc in conllu_to_docs(conllu, Vocab(), merge=lambda form, words: data.draw(st.booleans())):
        known = data.draw(st.lists(st.sampled_from(range(len(doc))), unique=True))
        doc.user_data |= {("._.", KNOWN, doc[i].idx, None): True for i in known}
        sure = numpy.linspace(0, 1, 2 * len(doc), dtype="<f4").reshape(2, -1)
        doc.user_data[KEY] = sure.tobytes()
        text = doc_to_conllu(doc, confidence=True)
        assert re.findall("HeadConfidence=([0-9.]+)", text) == [f"{x:.3f}" for x in sure[0]]
        assert re.findall("DepConfidence=([0-9.]+)", text) == [f"{x:.3f}" for x in sure[1]]
        n_known += len(known)
        found += text
    assert found.count("KnownHead=Yes") == n_known
    for one, other in zip(read_rows(found), kept, strict=True):
        assert one.comments == other.comments
        for row, old in zip(one.rows, other.rows, strict=True):
            assert row[:HEAD] == old[:HEAD]
            rest = [item for item in row[MISC].split("|") if not ADDED.match(item)]
            assert ("|".join(rest) or "_") == old[MISC]


def without_enhanced(conllu: str) -> str:
    """CoNLL-U without what a Doc cannot hold: empty nodes and enhanced dependencies."""
    found = []
    for one in read_rows(conllu):
        rows = [[*row[:DEPS], "_", row[MISC]] for row in one.rows if "." not in row[ID]]
        found.append(Sentence(one.comments, rows).written().to_conllu("?"))
    return "".join(found)


# Text


def restored(conllu: str) -> str:
    """The text that the rows of CoNLL-U give back."""
    text, end = "", 0
    for row in (row for sentence in read_rows(conllu) for row in sentence.rows):
        if "-" in row[ID]:
            end = int(row[ID].split("-")[1])
        elif int(row[ID]) <= end:
            end = 0 if int(row[ID]) == end else end
            continue
        said = dict(item.partition("=")[::2] for item in row[MISC].split("|"))
        after = "" if "SpaceAfter" in said else said.get("SpacesAfter", "\\s")
        text += unescaped(said.get("SpacesBefore", "") + said.get("SpacesInToken", ""))
        text += "" if "SpacesInToken" in said else row[1]
        text += unescaped(after)
    return text


def unescaped(spaces: str) -> str:
    signs = {"s": " ", "t": "\t", "r": "\r", "n": "\n", "p": "|", "\\": "\\"}

    def sign(found: re.Match[str]) -> str:
        return signs.get(found[1]) or chr(int(found[1][1:], 16))

    return re.sub(r"\\(u[0-9a-f]{4}|.)", sign, spaces)


@PROFILE
@given(
    st.text(st.one_of(LETTER, SPACE, st.characters(codec="utf-8"))),
    st.sampled_from(["text", "lines"]),
)
def test_any_text(text: str, kind: str) -> None:
    text = text.lstrip("\ufeff")  # a byte order mark is none of the text
    conllu = parsed(text, kind, parser())
    assert restored(conllu) == (text if text.strip() else "")
    errors = format_errors(conllu, level=1)
    assert [error for error in errors if "not normalized" not in error] == []


# Real files


@pytest.mark.skipif(not FOLDER, reason="NMPARSE_TREEBANKS names no folder")
def test_real_files() -> None:
    """What a parser does not decide comes back; a file with errors is refused with the line."""
    n_read = 0
    for path in sorted(Path(FOLDER).rglob("*.conllu")):
        conllu = path.read_text(encoding="utf-8")
        try:
            docs = list(conllu_to_docs(path, Vocab()))
        except ValueError as error:
            assert f"{path}, line " in str(error)
            continue
        assert "".join(map(doc_to_conllu, docs)) == without_enhanced(conllu), path
        assert given_parts(parsed(conllu, "conllu", parser())) == given_parts(conllu), path
        n_read += 1
    assert n_read
