"""Pipelines that learn from several treebanks, and know which one a document is of."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config, registry
from thinc.api import fix_random_seed

from spacy_nmparse.layers.treebanks import MOST, names_in
from spacy_nmparse.ud.nonce import mix
from spacy_nmparse.ud.readers import Corpus
from tests.toy_treebank import nmparse, sentence

#: The same words, annotated otherwise: lemmas, multiword tokens, the direction of arcs.
FIRST = sentence(
    *("1-2 du _ _ _ _ _ _ _ _", "1 de de ADP _ _ 3 case _ _", "2 le le DET _ _ 3 det _ _"),
    *("3 pain pain NOUN _ _ 0 root _ _", "4 bon bon ADJ _ _ 3 amod _ _"),
)
OTHER = sentence(
    *("1 du DU ADP _ _ 0 root _ _", "2 pain PAIN NOUN _ _ 1 pobj _ _"),
    "3 bon BON ADJ _ _ 1 dep _ _",
)
PATHS = {"first": "a.conllu", "other": "b.conllu"}


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, Path]:
    for name, text in (("a.conllu", FIRST * 6), ("b.conllu", OTHER * 9)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / file for name, file in PATHS.items()}


def named(examples: list[Example]) -> list[Any]:
    return [(e.reference._.ud_treebank, e.predicted._.ud_treebank) for e in examples]


def pipeline() -> Language:
    """A parser, a lemmatizer and multiword tokens on words known by their affixes."""
    nlp = spacy.blank("xx")
    tok2vec = {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {"@architectures": "spacy_nmparse.AffixEmbed.v1", "width": 16},
        "encode": {
            "@architectures": "spacy_nmparse.MaxoutWindowEncoder.v1",
            **{"width": 16, "depth": 1},
        },
    }
    nlp.add_pipe("tok2vec", config={"model": tok2vec})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16, "upstream": "tok2vec"}
    nlp.add_pipe("nm_parser", name="parser", config={"model": {"tok2vec": listener}})
    tagger = {"@architectures": "spacy.Tagger.v2", "nO": None, "tok2vec": listener}
    nlp.add_pipe("ud_lemmatizer", config={"model": tagger, "min_tree_freq": 1})
    nlp.add_pipe("multiword_tokens")
    return nlp


def test_the_reader_names_all_but_the_first(paths: dict[str, Path]) -> None:
    nlp = pipeline()
    with pytest.warns(UserWarning, match="does not know which sentence is of which"):
        list(Corpus(paths)(spacy.blank("xx")))
    for settings, first, other in (({}, 2, 3), ({"gold_preproc": True}, 6, 9)):
        found = named(list(Corpus(paths, n_sents=3, **settings)(nlp)))
        assert found == [(None, None)] * first + [("other", "other")] * other
    lower = spacy.registry.augmenters.get("spacy.lower_case.v1")(level=1.0)
    assert named(list(Corpus(paths, augmenter=lower)(nlp)))[-1] == ("other", "other")
    assert len(list(Corpus(paths, n_sents=1, limit=8)(nlp))) == 8


@pytest.mark.parametrize("name", ["#new", "a:b", "[x]", " other"])
def test_names_that_a_config_would_lose(
    paths: dict[str, Path], tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    nlp = pipeline()
    nlp.initialize(lambda: list(Corpus(paths, n_sents=1)(nlp)))
    nlp.to_disk(tmp_path / "model")
    files = [str(paths["first"]), f"{name}={paths['other']}", "-o", str(tmp_path / "new")]
    assert nmparse(["learn-on", str(tmp_path / "model"), *files]) == 2
    assert f"cannot name a treebank {name!r}" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_sentences_stay_in_their_treebank(paths: dict[str, Path]) -> None:
    pipeline()
    docs = list(Corpus(paths, n_sents=3).docs(spacy.blank("xx")))
    random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            found = list(mix(docs))
            for doc in found:
                labels = {token.dep_ for token in doc}
                assert ("pobj" in labels) == (doc._.ud_treebank == "other")
            assert sum(len(list(doc.sents)) for doc in found) == 15


def test_one_pipeline_for_treebanks_that_disagree(paths: dict[str, Path], tmp_path: Path) -> None:
    """Trees are as in the document's treebank, in the first where none is named; words and the
    lemmas of known words as in the first. A saved pipeline knows them; unknown ones are refused."""
    nlp = pipeline()
    corpus = Corpus(paths, n_sents=1)
    fix_random_seed(0)
    examples = list(corpus(nlp))
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(100):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(tmp_path / "model")
    for model in (nlp, spacy.load(tmp_path / "model")):
        first, other = (model.make_doc("du pain bon") for _ in range(2))
        other._.ud_treebank = "other"
        first, other = model.pipe([first, other])
        assert [token.head.i for token in first] == [1, 1, 1]
        assert [token.lemma_ for token in other][1:] == ["pain", "bon"]
        assert len(first[0]._.ud_words) == len(other[0]._.ud_words) == 2
        assert [token.dep_ for token in other] == ["ROOT", "pobj", "dep"]
        doc = model.make_doc("du pain")
        doc._.ud_treebank = "third"
        with pytest.raises(ValueError, match=r"is 'third'.*others: 'other'"):
            model(doc)


def test_at_most_so_many(paths: dict[str, Path]) -> None:
    nlp = pipeline()
    examples = list(Corpus(paths, n_sents=1)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    some = (examples * MOST)[: MOST + 1]
    for i, example in enumerate(some):
        example.predicted._.ud_treebank = f"treebank {i}"
        if i < MOST:
            nlp.update([example], sgd=optimizer)
    with pytest.raises(ValueError, match=f"at most {MOST + 1} treebanks"):
        nlp.update(some[-1:], sgd=optimizer)


@pytest.mark.parametrize(
    "named", [["{first}", "other={other}"], ["other={other}"], ["{first}"], ["new={other}"]]
)
def test_learn_on(
    paths: dict[str, Path],
    tmp_path: Path,
    named: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A file with a name is of the treebank that the pipeline knows by it, any other of the first;
    what is no name may be part of a file's."""
    nlp = pipeline()
    examples = list(Corpus(paths, n_sents=1)(nlp))
    nlp.update(examples, sgd=nlp.initialize(lambda: examples))
    nlp.to_disk(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    first = paths["first"].rename(tmp_path / "a=1.conllu")
    files = [one.format(first=first.name, other=paths["other"]) for one in named]
    assert nmparse(["learn-on", "model", *files, "--epochs", "1", "-o", "new"]) == 0
    assert ("does not know the treebank 'new'" in capsys.readouterr().err) == (
        named[-1][:3] == "new"
    )
    config = load_config("new/learn-on.cfg", interpolate=True)
    reader = registry.resolve(config["corpora"])["train"]
    found = Counter(doc._.ud_treebank for doc in reader.docs(nlp) for _ in doc.sents)
    assert found == {
        name: n
        for name, n, text in (
            (None, 6, "{first}"),
            ("other", 9, "other={other}"),
            ("new", 9, "new={other}"),
        )
        if text in named
    }
    assert names_in(spacy.load("new/model-last")) == {"other", *filter(None, found)}
