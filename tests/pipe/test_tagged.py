"""Data whose tags the parser sees."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.util import registry

WORDS = ["I", "saw", "it", "."]


def write(folder: Path, **annotation: list[str]) -> Path:
    vocab = spacy.blank("xx").vocab
    doc = Doc(vocab, words=WORDS, heads=[1, 1, 1, 1], deps=["a", "ROOT", "a", "b"], **annotation)
    path = folder / "data.spacy"
    DocBin(docs=[doc], attrs=["HEAD", "DEP", "TAG", "POS"]).to_disk(path)
    return path


def read(path: Path, **settings: object) -> Doc:
    block = {"@readers": "spacy_nmparse.TaggedCorpus.v1", "path": path, **settings}
    (example,) = registry.resolve({"reader": block})["reader"](spacy.blank("xx"))
    assert [token.dep_ for token in example.reference] == ["a", "ROOT", "a", "b"]
    assert not example.predicted.has_annotation("DEP")
    predicted: Doc = example.predicted
    return predicted


@pytest.mark.parametrize("gold_preproc", [True, False])
def test_words_have_the_tags_of_the_data(tmp_path: Path, gold_preproc: bool) -> None:
    doc = read(
        write(tmp_path, tags=["P", "V", "P", "."], pos=["PRON", "VERB", "PRON", "PUNCT"]),
        gold_preproc=gold_preproc,
    )
    assert [token.tag_ for token in doc] == ["P", "V", "P", "."]
    assert not doc.has_annotation("POS")


def test_parts_of_speech_stand_for_tags(tmp_path: Path) -> None:
    doc = read(write(tmp_path, pos=["PRON", "VERB", "PRON", "PUNCT"]), gold_preproc=True)
    assert [token.pos_ for token in doc] == ["PRON", "VERB", "PRON", "PUNCT"]


def test_data_must_be_named() -> None:
    with pytest.raises(ValueError, match="TaggedCorpus: no path"):
        registry.resolve({"reader": {"@readers": "spacy_nmparse.TaggedCorpus.v1", "path": None}})
