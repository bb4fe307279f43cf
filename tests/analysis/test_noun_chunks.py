"""Noun chunks by Universal Dependencies' labels."""

from __future__ import annotations

import pickle

import pytest
import spacy
from spacy.tokens import Doc

from spacy_nmparse.analysis import register_noun_chunks, ud_noun_chunks
from spacy_nmparse.registered import UDNounChunks


def make(words: str, heads: list[int], deps: str, pos: str | None = None, lang: str = "xx") -> Doc:
    vocab = spacy.blank(lang).vocab
    parts = pos.split() if pos else None
    return Doc(vocab, words=words.split(), heads=heads, deps=deps.split(), pos=parts)


def chunks(doc: Doc) -> list[str]:
    return [doc[first:last].text for first, last, _ in ud_noun_chunks(doc)]


EXAMPLE = (
    "My father 's old red car and two dogs in New York surprised them .",
    [1, 5, 1, 5, 5, 12, 8, 8, 5, 11, 11, 8, 12, 12, 12],
    "nmod:poss nmod:poss case amod amod nsubj cc nummod conj case compound nmod ROOT obj punct",
    "PRON NOUN PART ADJ ADJ NOUN CCONJ NUM NOUN ADP PROPN PROPN VERB PRON PUNCT",
)
EXPECTED = ["My father 's old red car", "two dogs", "New York", "them"]


def test_chunks() -> None:
    assert chunks(make(*EXAMPLE)) == EXPECTED


def test_without_parts_of_speech() -> None:
    assert chunks(make(*EXAMPLE[:3])) == EXPECTED


def test_modifiers_behind() -> None:
    doc = make(
        "la casa blanca de Ana María cayó",
        [1, 6, 1, 4, 1, 4, 6],
        "det nsubj amod case nmod flat ROOT",
        "DET NOUN ADJ ADP PROPN PROPN VERB",
    )
    assert chunks(doc) == ["la casa blanca", "Ana María"]


def test_a_gap_ends_a_chunk() -> None:
    """What belongs to dog, but on the other side of the verb, is left out."""
    doc = make("big saw dog", [2, 1, 1], "amod ROOT obj", "ADJ VERB NOUN")
    assert chunks(doc) == ["dog"]


def test_verbs_are_none() -> None:
    doc = make("eats and drinks", [0, 2, 0], "ROOT cc conj", "VERB CCONJ VERB")
    assert chunks(doc) == []


def test_registering() -> None:
    nlp = spacy.blank("cs")
    doc = make(*EXAMPLE, lang="cs")
    with pytest.raises(NotImplementedError):
        list(doc.noun_chunks)
    assert register_noun_chunks(nlp)
    assert not register_noun_chunks(nlp)
    words, heads, deps, pos = EXAMPLE
    doc = Doc(nlp.vocab, words.split(), heads=heads, deps=deps.split(), pos=pos.split())
    assert [chunk.text for chunk in doc.noun_chunks] == EXPECTED
    assert next(doc.noun_chunks).label_ == "NP"
    vocab = pickle.loads(pickle.dumps(nlp.vocab))
    assert vocab.get_noun_chunks is ud_noun_chunks


def test_own_iterators_are_kept() -> None:
    nlp = spacy.blank("de")
    before = nlp.vocab.get_noun_chunks
    assert not register_noun_chunks(nlp)
    assert nlp.vocab.get_noun_chunks is before


def test_the_callback() -> None:
    nlp = spacy.blank("cs")
    assert UDNounChunks()(nlp) is nlp
    assert nlp.vocab.get_noun_chunks is ud_noun_chunks


def test_no_parse() -> None:
    with pytest.raises(ValueError, match="E029"):
        chunks(Doc(spacy.blank("xx").vocab, words=["a"]))
