"""A parser notices that it hears another tok2vec than the one that it was trained with."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_nmparse.pipe.fingerprint import LIMIT, Fingerprint, distance
from tests.pipe.common import LISTENER, TOK2VEC, TREES
from tests.pipe.test_replace import BESIDE, pipeline

MANY = [" ".join(f"w{(7 * i + j) % 97}" for j in range(10)) for i in range(30)]


def trained(seed: int, heard: dict) -> Language:
    """A pipeline whose tok2vec is shared and whose parser has been evaluated, as in training."""
    nlp = pipeline("nm_parser", seed=seed, heard=heard)
    gains = numpy.random.default_rng(seed).uniform(0.5, 1.5, TOK2VEC["width"]).astype("float32")
    for layer in nlp.get_pipe("tok2vec").model.walk():  # type: ignore[attr-defined]
        if layer.name == "layernorm":  # as after more training
            layer.set_param("G", gains)
    nlp.evaluate([Example(nlp.make_doc(text), nlp.make_doc(text)) for text in MANY])
    return nlp


@pytest.fixture(scope="module", params=[LISTENER, BESIDE], ids=["alone", "beside"])
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pipelines")
    for seed in (0, 1):
        trained(seed, request.param).to_disk(folder / str(seed))
    return [folder / "0", folder / "1"]


def parsed(nlp: Language) -> list[str]:
    """The warnings of this package."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for text in MANY:  # one at a time: the comparison waits for enough words
            nlp(text)
    return [str(one.message) for one in found if "not the one which" in str(one.message)]


def test_its_own_pipeline(saved: list[Path]) -> None:
    nlp = spacy.load(saved[0])
    assert nlp.get_pipe("nm_parser")._fingerprint.values  # type: ignore[attr-defined]
    assert not parsed(nlp)


@pytest.mark.parametrize("used_before", [False, True])
def test_another_tok2vec_warns_once(saved: list[Path], used_before: bool, tmp_path: Path) -> None:
    source, nlp = (spacy.load(path) for path in saved)
    if used_before:
        assert not parsed(source)
    nlp.remove_pipe("nm_parser")
    nlp.add_pipe("nm_parser", source=source)
    (message,) = parsed(nlp)
    assert "'nm_parser'" in message and "replace" in message
    nlp.to_disk(tmp_path)
    assert len(parsed(spacy.load(tmp_path))) == 1


def test_both_from_one_pipeline(saved: list[Path]) -> None:
    source, nlp = spacy.load(saved[0]), spacy.blank("en")
    for name in ("tok2vec", "nm_parser"):
        nlp.add_pipe(name, source=source)
    assert not parsed(nlp)


def test_an_update_makes_a_new_one(saved: list[Path]) -> None:
    nlp = spacy.load(saved[0])
    before = nlp.get_pipe("nm_parser")._fingerprint.values  # type: ignore[attr-defined]
    for _ in range(2):
        one_update(nlp)
    assert not parsed(nlp)
    again = spacy.blank("en").add_pipe("nm_parser", source=nlp)
    assert again._fingerprint.saved() not in (before, None)  # type: ignore[attr-defined]


def one_update(nlp: Language) -> None:
    """An update by the first tree. spaCy connects a loaded tok2vec and its listeners after it."""
    text, heads, deps = TREES[0]
    gold = {"heads": [0] * len(heads), "deps": deps.split()}
    nlp.update([Example.from_dict(nlp.make_doc(text), gold)], sgd=nlp.resume_training())


@pytest.mark.parametrize(
    ("evaluated", "sourced"), [(len(MANY), False), (2, False), (0, False), (2, True)]
)
def test_nothing_is_kept_where_none_is_known(
    saved: list[Path], evaluated: int, sourced: bool, tmp_path: Path
) -> None:
    """Where no evaluation of enough words followed the last update, also without saving."""
    nlp = spacy.load(saved[0])
    nlp.evaluate([Example(nlp.make_doc(text), nlp.make_doc(text)) for text in MANY[:evaluated]])
    one_update(nlp)
    if evaluated < len(MANY):
        nlp.evaluate([Example(nlp.make_doc(text), nlp.make_doc(text)) for text in MANY[:evaluated]])
    if sourced:
        source, nlp = nlp, spacy.blank("en")
        for name in ("tok2vec", "nm_parser"):
            nlp.add_pipe(name, source=source)
    else:
        nlp.to_disk(tmp_path)
        nlp = spacy.load(tmp_path)
    parser = nlp.get_pipe("nm_parser")
    assert not parsed(nlp)
    before = len(pickle.dumps(parser._fingerprint))  # type: ignore[attr-defined]
    assert not parsed(nlp)
    assert len(pickle.dumps(parser._fingerprint)) == before  # type: ignore[attr-defined]


def test_distance() -> None:
    random = numpy.random.default_rng(0)
    vectors = (random.normal(size=(500, 20)) * numpy.linspace(0.1, 2, 20)).astype("float32")
    noted = Fingerprint()
    noted.restart()
    noted._noted = [vectors[:50]]
    assert noted.saved() is None  # too few of them
    noted._noted = [vectors[:400]]
    values = noted.saved()
    assert values is not None
    assert distance(values, vectors[400:]) < LIMIT < distance(values, vectors[400:, ::-1])
    assert distance(values, vectors[400:, :10]) == float("inf")
