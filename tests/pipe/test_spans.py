"""Entities, groups of spans and categories stay with a text whose document gets other tokens."""

from __future__ import annotations

import warnings

import pytest
import spacy
from spacy.tokens import Doc, Span

from spacy_nmparse.pipe.annotations import same_tokens
from spacy_nmparse.pipe.spans import restore_spans

VOCAB = spacy.blank("xx").vocab


def told() -> Doc:
    doc = Doc(VOCAB, words=["Ann", "met", "New", "York", "City", "fans"])
    doc.ents = [
        Span(doc, 0, 1, "PERSON", kb_id="Q1", span_id="ann"),
        *(Span(doc, 2, 3, "X"), Span(doc, 3, 5, "CITY")),
    ]
    doc[5].ent_type_ = ""
    doc.set_ents(list(doc.ents), missing=[doc[5:6]])
    doc.spans["a"] = [Span(doc, 3, 4, "P", kb_id="Q2", span_id="i"), Span(doc, 2, 5, "Q")]
    doc.spans["a"].attrs["scores"] = [0.1, 0.2]
    doc.spans["b"] = [Span(doc, 0, 1, "P")]
    doc.cats = {"news": 1.0}
    return doc


def merged(doc: Doc, first: int, end: int) -> Doc:
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[first:end])
    return doc


def entities(doc: Doc) -> list[tuple[str, ...]]:
    return [(one.text, one.label_, one.kb_id_, one.id_) for one in doc.ents]


def test_all_is_restored() -> None:
    doc = told()
    found = same_tokens(doc)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        restore_spans(doc, found)
    assert entities(found) == entities(doc) and found.cats == doc.cats
    assert [token.ent_iob for token in found] == [token.ent_iob for token in doc]
    assert found.spans.to_bytes() == doc.spans.to_bytes()
    found.cats["news"] = 0.0
    assert doc.cats["news"] == 1.0


def test_what_the_pipeline_says_counts() -> None:
    doc = told()
    found = same_tokens(doc)
    found.set_ents([])
    found.spans["a"] = []
    found.cats = {"sports": 1.0}
    restore_spans(doc, found)
    assert not found.ents and not found.spans["a"] and found.cats == {"sports": 1.0}
    assert [span.text for span in found.spans["b"]] == ["Ann"]
    bare = same_tokens(doc)
    restore_spans(same_tokens(doc), bare)
    assert not bare.has_annotation("ENT_IOB") and not bare.spans and not bare.cats


def test_where_tokens_are_merged() -> None:
    """Spans get the whole token; an entity that shares one with a longer one is lost, as is all
    where the text is another one. Both are said."""
    doc = told()
    found = merged(same_tokens(doc), 2, 4)
    with pytest.warns(UserWarning, match=r"'Ann met New York City fans ': 1 of its entities"):
        restore_spans(doc, found)
    assert [one[:2] for one in entities(found)] == [("Ann", "PERSON"), ("New York City", "CITY")]
    assert [token.ent_iob for token in found] == [3, 2, 3, 1, 0]
    spans = [(span.text, span.label_, span.kb_id_, span.id_) for span in found.spans["a"]]
    assert spans == [("New York", "P", "Q2", "i"), ("New York City", "Q", "", "")]
    with pytest.warns(UserWarning, match="changes the text 'Ann met"):
        restore_spans(doc, other := Doc(VOCAB, words=["Bob"]))
    assert not other.spans and other.cats
