"""Vectors of words by a transformer, here a tiny one of random weights."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.strings import StringStore
from spacy.tokens import Doc
from thinc.types import Ragged

from spacy_nmparse.cli.pretrained import read_licence
from spacy_nmparse.pipe.mean_vectors import MeanVectors, transformer_of
from tests.pipe import test_transformer
from tests.toy_treebank import nmparse

config, nlp, bert = test_transformer.config, test_transformer.nlp, test_transformer.bert
WIDTH = 16


def some_docs(nlp: Language, n: int) -> list[Doc]:
    """Documents of words of a few letters, most of which come again, and spaces between."""
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefgh", k=draw.randint(1, 3))) for _ in range(40)] + ["\n"]
    return [Doc(nlp.vocab, draw.choices(words, k=draw.randint(0, 12))) for _ in range(n)]


def distances(vectors: Any) -> Any:
    return np.linalg.norm(vectors[:, None] - vectors, axis=2)


def test_means(nlp: Language) -> None:
    """Of all layers but the embedding and of all places, as one word after the other has it; at
    full width nothing is lost but the scale."""
    transformer = transformer_of(nlp)
    docs = some_docs(nlp, 30)
    means = MeanVectors(transformer)
    assert sum(means.add(iter(docs))) == sum(map(len, docs))
    assert not transformer.all_layer_outputs
    found = means.vectors(StringStore(), WIDTH)
    expected: dict[str, list[Any]] = {}
    transformer.all_layer_outputs = True
    for doc in docs:
        if not len(doc):
            continue
        layers = transformer.predict([doc]).all_outputs[0][1:]
        for token in doc:
            begin = int(layers[0].lengths[: token.i].sum())
            pieces = [layer.dataXd[begin : begin + len(token)].mean(axis=0) for layer in layers]
            if token.text != "\n":
                expected.setdefault(token.text, []).append(np.mean(pieces, axis=0))
    words = sorted(expected)
    assert len(words) == found.n_keys > WIDTH
    given = distances(np.array([np.mean(expected[word], axis=0) for word in words]))
    made = distances(np.array([found[spacy.strings.hash_string(word)] for word in words]))
    assert np.allclose(made / made.max(), given / given.max(), atol=1e-4)
    assert found.shape == (len(words), WIDTH) and found.data.dtype == np.float32
    assert means.vectors(StringStore(), 4).shape == (len(words), 4)


def test_command(nlp: Language, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """By a pipeline's transformer, of several files; a config takes them."""
    texts = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for i, file in enumerate(texts):
        docs = some_docs(nlp, 9)[i::2]
        file.write_text("\n\n".join(" ".join(doc.text.split()) for doc in docs), encoding="utf-8")
    nlp.to_disk(tmp_path / "model")
    arguments = ["vectors", str(tmp_path / "model"), *map(str, texts), "--width", "8", "-o"]
    assert nmparse([*arguments, str(tmp_path / "vectors")]) == 0
    vectors = spacy.load(tmp_path / "vectors").vocab.vectors
    shown = capfd.readouterr().out
    assert f"vectors of {vectors.n_keys} words, 8 numbers each" in shown
    words = {word for file in texts for word in file.read_text(encoding="utf-8").split()}
    assert {nlp.vocab.strings[key] for key in vectors} == words
    config = ["init-config", str(tmp_path / "a.cfg"), "--lang", "xx", "--vectors"]
    assert nmparse([*config, str(tmp_path / "vectors")]) == 0
    assert nmparse([*arguments, str(tmp_path / "vectors")]) == 2  # it is there


def test_command_with_a_folder(bert: Path, tmp_path: Path) -> None:
    """As Hugging Face saves a transformer; sentences of CoNLL-U are documents of their own, and
    the licence is that of the transformer."""
    about = "---\nlanguage: xx\nlicense: apache-2.0\n---\n# A model\n"
    (bert / "README.md").write_text(about, encoding="utf-8")
    text = tmp_path / "text.conllu"
    rows = (f"{i + 1}\t{word}" + "\t_" * 8 for i, word in enumerate(["a", "b", "aa", "ab", "c"]))
    text.write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    output = str(tmp_path / "vectors")
    assert (
        nmparse(["vectors", str(bert), str(text), "--lang", "en", "--width", "4", "-o", output])
        == 0
    )
    made = spacy.load(output)
    vectors = made.vocab.vectors
    assert vectors.shape == (5, 4) and np.isfinite(vectors.data).all()
    assert made.meta["license"] == "apache-2.0"


@pytest.mark.parametrize(
    ("about", "licence"),
    [
        ("---\nlicense: mit\n---\n", "mit"),
        ("---\nlicense: [mit, gpl]\n---\n", "mit, gpl"),
        ("---\nlicense:\n---\n", ""),
        ("---\ntags: [a\n---\n", ""),
        ("license: mit\n", ""),
        (None, ""),
    ],
)
def test_licence_of_a_folder(tmp_path: Path, about: str | None, licence: str) -> None:
    if about is not None:
        (tmp_path / "README.md").write_text(about, encoding="utf-8")
    assert read_licence(str(tmp_path)) == licence


def test_the_same_of_all_words() -> None:
    class Constant:
        all_layer_outputs = False

        def predict(self, docs: list[Doc]) -> Any:
            ones = [
                Ragged(np.full((len(doc), 8), 0.3, "f"), np.ones(len(doc), int)) for doc in docs
            ]
            return SimpleNamespace(all_outputs=[[one] * 2 for one in ones])

    means = MeanVectors(Constant())
    sum(means.add(some_docs(spacy.blank("xx"), 30)))
    with pytest.raises(ValueError, match="says the same of all words"):
        means.vectors(StringStore(), 4)


def test_what_is_wrong(nlp: Language, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, output = tmp_path / "text.txt", str(tmp_path / "vectors")
    text.write_text("ab cd ef.", encoding="utf-8")
    nlp.to_disk(tmp_path / "model")
    spacy.blank("xx").to_disk(tmp_path / "blank")
    for model, message in (
        ("model", "The texts have 4 different words, too few for vectors of 128 numbers."),
        ("blank", "has no transformer of spacy-curated-transformers"),
        ("nowhere", "--lang is missing"),
    ):
        assert nmparse(["vectors", str(tmp_path / model), str(text), "-o", output]) == 2
        assert message in capfd.readouterr().err
    assert not Path(output).exists()


def test_without_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("spacy_nmparse.cli.vectors.find_spec", lambda name: None)
    text = tmp_path / "text.txt"
    text.write_text("a", encoding="utf-8")
    arguments = ["vectors", str(tmp_path), str(text), "--lang", "en", "-o", str(tmp_path / "x")]
    assert nmparse(arguments) == 2
    assert "its extra transformers" in capfd.readouterr().err
