"""Noun chunks by Universal Dependencies' labels."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import logger

from spacy_nmparse.analysis import register_noun_chunks, ud_noun_chunks
from spacy_nmparse.analysis.noun_chunks import UDNounChunks


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


@pytest.mark.parametrize(
    ("words", "heads", "deps", "pos", "expected"),
    [
        (*EXAMPLE, EXPECTED),
        (*EXAMPLE[:3], None, EXPECTED),
        pytest.param(
            *("la casa blanca de Ana María cayó", [1, 6, 1, 4, 1, 4, 6]),
            *("det nsubj amod case nmod flat ROOT", "DET NOUN ADJ ADP PROPN PROPN VERB"),
            ["la casa blanca", "Ana María"],
            id="modifiers behind",
        ),
        # what belongs to dog, but on the other side of the verb, is left out
        pytest.param(
            *("big saw dog", [2, 1, 1], "amod ROOT obj", "ADJ VERB NOUN", ["dog"]), id="a gap"
        ),
        pytest.param(
            *("eats and drinks", [0, 2, 0], "ROOT cc conj", "VERB CCONJ VERB", []), id="verbs"
        ),
    ],
)
def test_chunks(
    words: str, heads: list[int], deps: str, pos: str | None, expected: list[str]
) -> None:
    assert chunks(make(words, heads, deps, pos)) == expected


def test_registering() -> None:
    nlp = spacy.blank("cs")
    doc = make(*EXAMPLE, lang="cs")
    with pytest.raises(NotImplementedError):
        list(doc.noun_chunks)
    assert register_noun_chunks(nlp)
    assert register_noun_chunks(nlp)
    words, heads, deps, pos = EXAMPLE
    doc = Doc(nlp.vocab, words.split(), heads=heads, deps=deps.split(), pos=pos.split())
    assert [chunk.text for chunk in doc.noun_chunks] == EXPECTED
    assert next(doc.noun_chunks).label_ == "NP"
    vocab = pickle.loads(pickle.dumps(nlp.vocab))
    assert vocab.get_noun_chunks is ud_noun_chunks


ENGLISH = (
    "She bought a red car in Berlin",
    [1, 1, 4, 4, 1, 6, 1],
    "nsubj ROOT det amod obj case obl",
    "PRON VERB DET ADJ NOUN ADP PROPN",
)


def noun_chunks(nlp: Language) -> list[str]:
    words, heads, deps, pos = ENGLISH
    doc = Doc(nlp.vocab, words.split(), heads=heads, deps=deps.split(), pos=pos.split())
    return [chunk.text for chunk in doc.noun_chunks]


def from_config(**settings: bool) -> Language:
    """A blank English pipeline whose config has the callback."""
    callback = {"@callbacks": "spacy_nmparse.ud_noun_chunks.v1", **settings}
    config = {"nlp": {"lang": "en", "after_pipeline_creation": callback}}
    return spacy.util.load_model_from_config(config, auto_fill=True)


def test_own_iterators_are_kept_with_a_warning() -> None:
    nlp = spacy.blank("en")
    before = nlp.vocab.get_noun_chunks
    with pytest.warns(UserWarning, match=r"'en' stay.*replace = true"):
        assert not register_noun_chunks(nlp)
    assert nlp.vocab.get_noun_chunks is before
    assert noun_chunks(nlp) == ["She"]
    with pytest.warns(UserWarning, match="replace = true"):
        assert noun_chunks(from_config()) == ["She"]


@pytest.fixture
def spacys_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> pytest.LogCaptureFixture:
    """What spaCy's logger says."""
    monkeypatch.setattr(logger, "propagate", True)
    caplog.set_level("INFO", logger="spacy")
    return caplog


@pytest.mark.filterwarnings("error")
def test_own_iterators_can_be_replaced(
    tmp_path: Path, spacys_log: pytest.LogCaptureFixture
) -> None:
    nlp = spacy.blank("en")
    assert register_noun_chunks(nlp, replace=True)
    assert noun_chunks(nlp) == ["She", "a red car", "Berlin"]
    assert "replace those of the language ('en')" in spacys_log.text
    nlp = from_config(replace=True)
    assert noun_chunks(nlp) == ["She", "a red car", "Berlin"]
    nlp.to_disk(tmp_path)
    assert noun_chunks(spacy.load(tmp_path)) == ["She", "a red car", "Berlin"]


def test_the_callback_says_that_it_has_registered(spacys_log: pytest.LogCaptureFixture) -> None:
    nlp = spacy.blank("cs")
    assert UDNounChunks()(nlp) is nlp
    assert nlp.vocab.get_noun_chunks is ud_noun_chunks
    assert "were registered ('cs')" in spacys_log.text


def test_no_parse() -> None:
    with pytest.raises(ValueError, match="E029"):
        chunks(Doc(spacy.blank("xx").vocab, words=["a"]))
