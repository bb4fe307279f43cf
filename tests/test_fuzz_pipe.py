"""Hostile texts, gold trees, weights and bytes for the component: sound trees, or a clear error."""

from __future__ import annotations

import copy
import math
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest
import srsly
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from tests.hostile import PROFILE, starts, texts
from tests.pipe.common import (
    SMALL,
    assert_sound,
    assert_starts_kept,
    parser_of,
    randomize,
    seal,
    tiny_parser,
)

FACTORIES = st.sampled_from(sorted(SMALL))
DEPS = st.sampled_from(["nsubj", "ROOT", "dep", "punct", "unheard-of", "||", "a||b", "", "é"])


@cache
def nlp_of(factory: str) -> Language:
    return tiny_parser(factory, 1)


def make_doc(nlp: Language, words: Sequence[str], presets: Sequence[int] = ()) -> Doc:
    sent_starts = list(presets) if presets and words else None
    return Doc(nlp.vocab, words=list(words), sent_starts=sent_starts)


@st.composite
def presets_for(draw: st.DrawFn, n: int) -> list[int]:
    return draw(st.lists(starts, min_size=n, max_size=n))


@PROFILE
@given(st.data(), FACTORIES, texts, st.sampled_from([1, 3]))
def test_any_text(data: st.DataObject, factory: str, words: list[str], width: int) -> None:
    nlp = nlp_of(factory)
    presets = data.draw(presets_for(len(words)))
    docs = [make_doc(nlp, words, presets), make_doc(nlp, []), make_doc(nlp, words[:1])]
    parser = parser_of(nlp)
    parser.beam_width = width
    try:
        for doc in parser.pipe(docs):
            assert_sound(doc)
        before = [(t.head.i, t.dep) for t in docs[0]]
        pairs = zip(docs[0], presets, strict=True)
        assert_starts_kept(docs[0], [0 if token.is_space else p for token, p in pairs])
        parser.n_best(docs, 2)
    finally:
        parser.beam_width = 1
    assert [(t.head.i, t.dep) for t in docs[0]] == before


@PROFILE
@given(FACTORIES, texts, st.sampled_from([math.nan, math.inf, -math.inf, 1e38, 0.0]), st.data())
def test_any_weights(factory: str, words: list[str], bad: float, data: st.DataObject) -> None:
    """What a parser says with broken weights is worth nothing, but it is a tree."""
    nlp = nlp_of(factory)
    parser = parser_of(nlp)
    before = parser.to_bytes(exclude=["vocab"])
    nodes = [node for node in parser.model.walk() if any(map(node.has_param, node.param_names))]
    node = data.draw(st.sampled_from(nodes))
    name = data.draw(st.sampled_from([name for name in node.param_names if node.has_param(name)]))
    array: Any = node.get_param(name).copy()
    array.reshape(-1)[:: data.draw(st.sampled_from([1, 7]))] = bad
    node.set_param(name, array)
    try:
        with numpy.errstate(all="ignore"):
            for width in (1, 3):
                parser.beam_width = width
                assert_sound(parser(make_doc(nlp, words)))
    finally:
        parser.beam_width = 1
        parser.from_bytes(before, exclude=["vocab"])


@st.composite
def gold_docs(draw: st.DrawFn, nlp: Language, words: list[str]) -> Doc | None:
    """A gold document, as far as spaCy lets one be made."""
    n = len(words)
    heads = [draw(st.integers(max(0, i - 3), min(n - 1, i + 3))) for i in range(n)]
    deps = draw(st.lists(DEPS, min_size=n, max_size=n))
    if draw(st.booleans()):
        deps = ["ROOT" if heads[word] == word else dep for word, dep in enumerate(deps)]
    try:
        return Doc(nlp.vocab, words=words, heads=heads, deps=deps)
    except ValueError:
        return None


@PROFILE
@given(FACTORIES, texts, st.booleans(), st.data())
def test_any_gold(factory: str, words: list[str], other_tokens: bool, data: st.DataObject) -> None:
    """Learning from it gives a finite loss, or an error that names the component."""
    nlp = nlp_of(factory)
    parser = parser_of(nlp)
    reference = data.draw(gold_docs(nlp, words))
    if reference is None:
        return
    predicted = make_doc(nlp, words)
    if other_tokens:
        predicted = nlp.make_doc(reference.text)
    presets = data.draw(presets_for(len(predicted)))
    for token, preset in zip(list(predicted)[1:], presets[1:], strict=False):
        token.is_sent_start = {1: True, -1: False, 0: None}[preset]
    before = parser.to_bytes(exclude=["vocab"])
    try:
        losses = parser.update([Example(predicted, reference)])
    except ValueError as error:
        assert parser.name in str(error)
    else:
        assert math.isfinite(losses[parser.name])
        assert losses[parser.name] >= 0
    assert parser.to_bytes(exclude=["vocab"]) == before  # no optimizer: nothing was learned


@PROFILE
@given(FACTORIES, st.lists(st.text(max_size=4), max_size=6))
def test_any_labels(factory: str, labels: list[str]) -> None:
    """Labels are any strings but the empty one, and saved as they are."""
    parser = parser_of(copy.deepcopy(nlp_of(factory)))
    for label in labels:
        if label == "":
            with pytest.raises(ValueError, match=parser.name):
                parser.add_label(label)
            continue
        try:
            label.encode("utf8")
        except UnicodeEncodeError:
            continue
        parser.add_label(label)
    randomize(parser.model, 2)
    other = nlp_of(factory)
    before = parser_of(other).to_bytes()
    parser_of(other).from_bytes(parser.to_bytes())
    assert parser_of(other).labels == parser.labels
    assert parser_of(other).to_bytes() == parser.to_bytes()
    doc = other(make_doc(other, ["She", "saw", "\n", "the", "cat"]))
    assert_sound(doc)
    again = Doc(other.vocab).from_bytes(doc.to_bytes())
    assert [t.dep_ for t in again] == [t.dep_ for t in doc]
    parser_of(other).from_bytes(before)
    assert parser_of(other).to_bytes() == before


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Cut off, or with bytes changed, zeroed, lost or added."""
    place = draw(st.integers(0, min(300, len(data))) | st.integers(0, len(data)))
    size = draw(st.sampled_from([0, 1, 16, 512, len(data)]))
    middle = draw(st.just(b"") | st.just(bytes(size)) | st.binary(max_size=16))
    return data[:place] + middle + data[place + size :]


@PROFILE
@given(FACTORIES, st.booleans(), st.booleans(), st.data())
def test_any_damage(
    tmp_path: Path, factory: str, on_disk: bool, sealed: bool, data: st.DataObject
) -> None:
    """Of a file, or of all bytes: an error that names the component, which stays as it was. Where
    the checksums are right, it may also be a parser that parses."""
    nlp = copy.deepcopy(nlp_of(factory))
    parser = parser_of(nlp)
    before = parser.to_bytes()
    saved = parser_of(tiny_parser(factory, 2)).to_bytes()
    parts = srsly.msgpack_loads(saved)
    name = data.draw(st.sampled_from(sorted(parts)))
    content = data.draw(st.none() | damaged(parts.pop(name)))
    parts |= {} if content is None else {name: content}
    if sealed:
        seal(parts)
    try:
        if on_disk:
            folder = tmp_path / "parser"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for name, content in parts.items():
                (folder / name).write_bytes(content)
            parser.from_disk(folder)
        elif sealed or data.draw(st.booleans()):
            parser.from_bytes(srsly.msgpack_dumps(parts))
        else:
            parser.from_bytes(data.draw(damaged(saved)))
    except ValueError as error:
        assert parser.name in str(error)
        assert parser.to_bytes() == before
    else:
        assert sealed or parser.to_bytes() == saved
        assert_sound(nlp(make_doc(nlp, ["She", "saw", "\n", "the", "cat"])))


@pytest.mark.parametrize("factory", SMALL)
def test_a_long_document(factory: str) -> None:
    """Without a single sentence start, spaces in between."""
    nlp = nlp_of(factory)
    words = ["She", "saw", "the", "\n", "cat"] * 600
    doc = nlp(make_doc(nlp, words))
    sentences = list(doc.sents)
    assert sum(map(len, sentences)) == 3000
    for sentence in sentences:
        assert sum(token.head.i == token.i for token in sentence) == 1
        assert all(sentence.start <= token.head.i < sentence.end for token in sentence)
