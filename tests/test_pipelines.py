"""The comparison of whole pipelines: raw text in, CoNLL-U out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from spacy.language import Language
from spacy.util import load_config

from benchmarks import pipelines, raw_text, released, report, udpipe
from spacy_nmparse.ud import conll18
from tests.toy_treebank import CONLLU

XPOS = "1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\n"


def test_running_text(tmp_path: Path) -> None:
    """Tokens with their spaces, and a blank line before documents and paragraphs."""
    path = tmp_path / "a.conllu"
    first, second, third = CONLLU.strip().split("\n\n")
    path.write_text(f"{first}\n\n# newpar\n{second}\n\n{third}\n\n", encoding="utf-8")
    assert raw_text.running_text(path) == "don't!\n\nA catsat on Yes\n"


def test_scores_of_files(tmp_path: Path) -> None:
    pytest.importorskip("udtools", reason="needs the package udtools")
    gold, parse = tmp_path / "gold.conllu", tmp_path / "parse.conllu"
    gold.write_text(XPOS + "\n", encoding="utf-8")
    parse.write_text(XPOS.replace("UH", "X").replace("yes", "Yes") + "\n", encoding="utf-8")
    found = conll18.score_text(gold, parse)
    assert list(found) == list(conll18.METRICS)
    assert {metric for metric, f1 in found.items() if f1 == 0} == {
        "XPOS",
        "AllTags",
        "Lemmas",
        "BLEX",
    }


def test_spacy_has_a_tagger_where_there_are_tags(treebank: Path, tmp_path: Path) -> None:
    train = treebank / "toy_test-ud-train.conllu"
    untagged = pipelines.build(pipelines.SPACY, train, tmp_path)
    assert untagged.build()["nlp"]["pipeline"][1:3] == ["morphologizer", "trainable_lemmatizer"]
    train.write_text(XPOS + "\n", encoding="utf-8")
    tagged = pipelines.build(pipelines.SPACY, train, tmp_path).build()
    assert tagged["nlp"]["pipeline"][1] == "tagger" in tagged["components"]
    ours = load_config(pipelines.build(pipelines.OURS, train, tmp_path).config)
    assert ours["nlp"]["pipeline"][-1] == "multiword_tokens"


def test_options_of_udpipe() -> None:
    turkish, other = map(udpipe.pipeline_options, ("UD_Turkish-IMST", "UD_Other"))
    assert "segment_size=50" in turkish["tokenizer"] and "learning_rate=0.01;" in turkish["parser"]
    assert other == udpipe.pipeline_options("UD_Hungarian-Szeged")


@pytest.mark.udpipe
def test_all_are_trained_and_scored(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in ("udtools", "ufal.udpipe"):
        pytest.importorskip(package, reason=f"needs the package {package}")
    # spaCy's parser does not learn rare labels
    (treebank / "toy_test-ud-train.conllu").write_text(f"{CONLLU}\n" * 40, encoding="utf-8")
    runs, work = tmp_path / "runs" / "pipelines", tmp_path / "work"
    command = ["--runs", str(runs), "--work", str(work)]
    short = ["--epochs", "1", "--seeds", "1", "--set", "components.tok2vec.model.encode.depth=1"]
    short += [
        "--udpipe-tokenizer",
        "epochs=1;batch_size=1;segment_size=10",
        "--udpipe-tagger",
        "iterations=1",
    ]
    short += ["--udpipe-parser", "iterations=1;structured_interval=0"]
    assert pipelines.main([str(treebank), *command, *short]) == 0, capsys.readouterr().err
    table = capsys.readouterr().out.split("\n## ")[-1]
    for system in pipelines.SYSTEMS:
        run = json.loads((runs / treebank.name / f"{system}-seed1.json").read_text("utf-8"))
        assert set(run["test"]["conll18"]) == set(conll18.METRICS)
        assert run["bytes"] > 1000 and run["dev"]["words"] > 3
        assert f"| {system}" in table
    assert pipelines.main([str(treebank), *command, *short]) == 0
    assert capsys.readouterr().out.count("done before") == len(pipelines.SYSTEMS)

    results = tmp_path / "results"
    arguments = ["pipelines", "--runs", str(runs.parent), "--results", str(results)]
    assert report.main(arguments) == 0
    found = json.loads((results / "pipelines.json").read_text("utf-8"))
    entry = found["systems"][treebank.name]["udpipe"]
    assert entry["test"]["Words"]["seeds"] == [run["test"]["conll18"]["Words"]]
    assert "iterations=1" in entry["command"]

    with pytest.raises(ValueError, match="cannot load"):
        raw_text.udpipe_parser(treebank / "toy_test-ud-test.conllu")


def test_ours_and_a_released_pipeline(
    treebank: Path, trained: Language, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By one scorer, on gold tokens and on text; runs are kept and summarized."""
    pytest.importorskip("udtools", reason="needs the package udtools")
    (treebank / "toy_test-ud-train.conllu").write_text(f"{CONLLU}\n" * 40, encoding="utf-8")
    runs, package = tmp_path / "runs" / "released", tmp_path / "other"
    trained.to_disk(package)
    command = [str(treebank), str(package), "--runs", str(runs), "--work", str(tmp_path / "work")]
    command += ["--epochs", "1", "--seeds", "1"]
    assert released.main(command) == 0, capsys.readouterr().err
    table = capsys.readouterr().out.split("\n## ")[-1]
    for system in ("other", pipelines.OURS):
        run = json.loads((runs / treebank.name / f"{system}-seed1.json").read_text("utf-8"))
        assert set(run["trees"]) == {"gold_tokens", "raw_text"}
        assert 0 <= run["trees"]["gold_tokens"]["LAS"] <= run["trees"]["gold_tokens"]["UAS"] <= 1
        assert f"| {system} " in table
    assert released.main(command) == 0
    assert capsys.readouterr().out.count("done before") == 2

    results = tmp_path / "results"
    arguments = ["released", "--runs", str(runs.parent), "--results", str(results)]
    assert report.main(arguments) == 0
    found = json.loads((results / "released.json").read_text("utf-8"))
    assert found["systems"][treebank.name]["other"]["trees"].keys() == run["trees"].keys()
