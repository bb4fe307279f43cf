"""Evaluation of pipelines: `nmparse evaluate`, and what is beneath it."""

from __future__ import annotations

import configparser
import json
import re
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab

from scripts import demo
from spacy_nmparse.ud import conll18
from spacy_nmparse.ud.evaluate import blank_copy, evaluate, read_docs
from spacy_nmparse.ud.treebank import convert, write_docs
from tests.toy_treebank import ROOT, nmparse, sentence


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """A file of one document with two sentences."""
    deps = ["ROOT", "obj", "nsubj", "ROOT", "punct"]
    doc = Doc(Vocab(), words=list("abcde"), spaces=[True] * 5, heads=[0, 0, 0, 3, 3], deps=deps)
    write_docs([doc], tmp_path / "gold.spacy")
    return tmp_path / "gold.spacy"


def scored(model: Path, data: Path, *options: str | Path) -> Any:
    """The file that ``nmparse evaluate`` writes."""
    output = data.parent / "scores" / "out.json"
    assert nmparse(["evaluate", *map(str, (model, data, "-o", output, *options))]) == 0
    assert str(data.parent) not in output.read_text(encoding="utf-8")
    return json.loads(output.read_text(encoding="utf-8"))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A pipeline whose component attaches every word to the one before."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("chain_for_test_scripts")
    nlp.to_disk(tmp_path / "model")
    return tmp_path / "model"


@spacy.Language.component("chain_for_test_scripts")
def chain(doc: Doc) -> Doc:
    for token in doc:
        token.head = doc[max(0, token.i - 1)]
        token.dep_ = "ROOT" if token.i == 0 else "obj"
    return doc


def test_evaluate(model: Path, gold: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setting = "nlp.batch_size=3"
    result = scored(model, gold, "--set", setting)
    assert result["per_sentence"] == {"words": [3, 2], "heads": [2, 2], "labelled": [2, 1]}
    assert result["scores"]["uas_all"] == pytest.approx(4 / 5)
    assert result["scores"]["las_all"] == pytest.approx(3 / 5)
    assert result["scores"]["dep_exact"] == 0
    assert result["words_per_second"] > 0
    assert result["versions"]["spacy"] == spacy.__version__
    assert result["command"].endswith(f"--set {setting}")
    assert "80.00" in capsys.readouterr().out
    for wrong, message in (
        ("components.parser.beam_width=3", "components -> parser -> beam_width"),
        ("beam_width", "KEY=VALUE"),
    ):
        assert nmparse(["evaluate", str(model), str(gold), "--set", wrong]) == 2
        assert message in capsys.readouterr().err
    pytest.importorskip("udtools", reason="needs the package udtools")
    for tokens in ("gold", "raw"):
        whole = evaluate(spacy.load(model), gold, unit="doc", tokens=tokens)
        assert whole["per_sentence"] == {"words": [3, 2], "heads": [2, 1], "labelled": [2, 0]}


def test_evaluate_from_raw_text(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A gold word that the tokenizer splits lowers the scores."""
    pytest.importorskip("udtools", reason="needs the package udtools")
    doc = Doc(Vocab(), words=["a", "b.c"], heads=[0, 0], deps=["ROOT", "obj"])
    write_docs([doc], tmp_path / "gold.spacy")
    nlp = spacy.load(model)
    assert len(nlp.make_doc("a b.c")) == 2
    nlp.tokenizer.add_special_case("b.c", [{"ORTH": "b."}, {"ORTH": "c"}])
    nlp.to_disk(tmp_path / "splits")
    found = scored(tmp_path / "splits", tmp_path / "gold.spacy", "--tokens", "raw")["conll18"]
    assert found["Words"] == found["LAS"] == pytest.approx(2 / 5)
    out = capsys.readouterr().out
    assert re.search(r"F1 against the words of gold.spacy\n(.*\n)* +LAS +40.00\n", out)
    assert "dep_las" not in out


def test_the_evaluation_names_the_extra_that_it_needs(
    model: Path,
    gold: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(conll18, "find_spec", lambda name: None)
    assert nmparse(["evaluate", str(model), str(gold)]) == 0
    capsys.readouterr()
    folder = str(tmp_path)
    assert nmparse(["evaluate", str(model), str(gold), "--tokens", "raw"]) == 2
    assert "extra demo" in capsys.readouterr().err
    for arguments in (["train", folder, folder], ["evaluate", *[folder] * 3]):
        assert demo.main(arguments) == 1
        assert "extra demo" in capsys.readouterr().err
    extras = configparser.ConfigParser()
    extras.read(ROOT / "setup.cfg", encoding="utf-8")
    for extra in ("demo", "test", "bench"):
        assert "udtools" in extras["options.extras_require"][extra], extra


def test_evaluate_presets_sentences(model: Path, gold: Path) -> None:
    """And shows tags, if that is asked for."""
    nlp = spacy.load(model)
    doc = read_docs(nlp, gold)[0]
    preset = blank_copy(nlp, doc, "gold", "gold")
    assert [token.is_sent_start for token in preset] == [True, False, False, True, False]
    assert not blank_copy(nlp, doc, "gold", "none").has_annotation("SENT_START")
    tagged = Doc(nlp.vocab, words=["a", "b"], tags=["X", "Y"], heads=[0, 0], deps=["ROOT", "obj"])
    assert [t.tag_ for t in blank_copy(nlp, tagged, "gold", "none", "data")] == ["X", "Y"]
    assert not blank_copy(nlp, tagged, "gold", "none").has_annotation("TAG")
    for one, *how in ((doc, "raw", "gold"), (tagged, "raw", "none", "data")):
        with pytest.raises(ValueError, match="no gold sentences"):
            blank_copy(nlp, one, *how)


def test_a_conllu_file_alone(
    model: Path, gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Is enough, for gold tokens and for the running text; so are its parts."""
    pytest.importorskip("udtools", reason="needs the package udtools")
    whole, one, two = (tmp_path / f"{name}.conllu" for name in ("whole", "one", "two"))
    first = sentence(
        *("1-2 du _ _ _ _ _ _ _ _", "1 de de ADP _ _ 3 case _ _"),
        *("2 le le DET _ _ 1 det _ _", "3 pain pain NOUN _ _ 0 root _ _"),
    )
    second = sentence("1 va aller VERB _ _ 0 root _ _", "2 là là ADV _ _ 1 obj _ _")
    for path, text in ((whole, first + second), (one, first), (two, second)):
        path.write_text(text, encoding="utf-8")
    found = scored(model, whole)
    assert found["per_sentence"]["words"] == [2, 2]  # du is one token of this tokenizer
    assert found["per_sentence"]["heads"] == [0, 2] and "conll18" not in found
    parts = ("--conllu", one, "--conllu", two)
    results = [
        scored(model, data, "--unit", "text", "--tokens", "raw", *more)["conll18"]
        for data, more in ((whole, ()), (whole, parts), (gold, parts))
    ]
    assert results[0]["Words"] == pytest.approx(2 * 3 / (4 + 5)) and results[0]["Tokens"] == 1
    assert [found["Words"] for found in results] == [results[0]["Words"]] * 3
    capsys.readouterr()
    assert nmparse(["evaluate", str(model), str(whole), "--unit", "x"]) == 2
    assert "--unit is one of sentence, doc, text, not 'x'" in capsys.readouterr().err


def test_words_of_multiword_tokens_count_in_sentences(model: Path, tmp_path: Path) -> None:
    """As many as in whole documents. A text as a whole is that of a CoNLL-U file."""
    pytest.importorskip("udtools", reason="needs the package udtools")
    conllu = sentence(
        *("1-2 au _ _ _ _ _ _ _ _", "1 à à ADP _ _ 0 root _ _"),
        *("2 le le DET _ _ 1 det _ _", "3 lac lac NOUN _ _ 1 obl _ _"),
    )
    source = tmp_path / "a.conllu"
    source.write_text(conllu * 3, encoding="utf-8")
    data = convert({"test": source}, tmp_path, 10, merge_subtokens=True)["test"]
    nlp = spacy.load(model)
    for unit in ("sentence", "doc"):
        found = evaluate(nlp, data, unit=unit, tokens="raw")["conll18"]
        assert found["Words"] == pytest.approx(2 * 3 / (9 + 6)), unit  # lac, of 3 words and of 2
    with pytest.raises(ValueError, match="running text"):
        evaluate(nlp, data, unit="text", tokens="raw")
