"""A whole pipeline from a treebank: config, training, text in, CoNLL-U out."""

from __future__ import annotations

import json
import os
import pickle
import re
from pathlib import Path

import numpy
import pytest
import spacy
from spacy.cli.package import generate_readme
from spacy.cli.train import train
from spacy.tokens import Doc
from spacy.util import load_config, load_model_from_config

from scripts import demo
from scripts.licences import Source, source_of
from scripts.packages import card
from spacy_nmparse.pipe.workplace import alone
from spacy_nmparse.ud import doc_to_conllu
from spacy_nmparse.ud.whole_pipeline import CONFIGS
from spacy_nmparse.ud.whole_pipeline import whole_pipeline as make_whole
from tests.toy_treebank import CONLLU, nmparse
from tests.validator import format_errors

CONFIG = CONFIGS / "nl_covington_parser.cfg"
PIPES = ["tok2vec", "parser", "ud_lemmatizer", "multiword_tokens"]


def test_the_config(tmp_path: Path) -> None:
    """Everything but what is added stays."""
    target = tmp_path / "made" / "pipeline.cfg"
    assert nmparse(["init-config", str(target), "--lang", "en"]) == 0
    made, old = load_config(target), load_config(CONFIG)
    assert made["nlp"]["pipeline"] == PIPES
    assert made["components"]["parser"].pop("write_tags") is True
    for name in PIPES[:2]:
        assert made["components"][name] == old["components"][name]
    assert made["initialize"]["before_init"]["@callbacks"] == "spacy_nmparse.fit_tokenizer.v1"
    assert made["paths"] == old["paths"] and made["corpora"]["dev"] == old["corpora"]["dev"]
    old["training"]["batcher"]["regroup"] = True
    assert made["training"]["batcher"] == old["training"]["batcher"]
    assert made["training"]["max_epochs"] == old["training"]["max_epochs"]


def test_only_for_our_parsers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = CONFIGS / "spacy_parser.cfg"
    assert nmparse(["init-config", str(tmp_path / "x.cfg"), "--parser", str(config)]) == 2
    assert "make the parser alone" in capsys.readouterr().err
    with pytest.raises(ValueError, match="has a tok2vec"):
        make_whole({"components": {}})


@pytest.mark.parametrize("lang", ["af", "en", "de", "fi", "xx"])
def test_noun_chunks_in_every_language(lang: str) -> None:
    """Whether spaCy has its own noun chunks for the language (en, de, fi) or not."""
    config = make_whole(load_config(CONFIG))
    config["nlp"]["lang"] = lang
    made = load_model_from_config(config, auto_fill=True)
    words = ["She", "saw", "a", "red", "car"]
    parse = {"heads": [1, 1, 4, 4, 1], "deps": ["nsubj", "ROOT", "det", "amod", "obj"]}
    for nlp in (made, pickle.loads(pickle.dumps(made))):
        doc = Doc(nlp.vocab, words, pos=["PRON", "VERB", "DET", "ADJ", "NOUN"], **parse)
        assert [chunk.text for chunk in doc.noun_chunks] == ["She", "a red car"]


@pytest.mark.parametrize("parser", ["nl_covington_parser", "nm_parser", "swap_parser"])
def test_a_parser_alone(tmp_path: Path, parser: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "parser.cfg"
    arguments = ["init-config", str(target), "--pipeline", "parser", "--parser", parser]
    assert nmparse(arguments) == 0
    out = capsys.readouterr().out
    assert "(xx): --lang names one" in out and f"spacy train {target} --output training " in out
    assert load_config(target) == load_config(CONFIGS / f"{parser}.cfg")
    assert nmparse(arguments) == 2  # it may have been edited
    assert f"{target} exists already" in capsys.readouterr().err
    target.unlink()
    nlp, some = spacy.blank("af"), str(tmp_path / "some")
    arguments += ["--lang", "af", "--vectors", some]
    for message in ("There is no pipeline", "has no word vectors"):
        assert nmparse(arguments) == 2 and message in capsys.readouterr().err
        nlp.to_disk(some)
    nlp.vocab.set_vector("a", numpy.ones(2, dtype="float32"))
    nlp.to_disk(some)
    assert nmparse(arguments) == 0
    made = load_config(target)
    assert (made["nlp"]["lang"], made["paths"]["vectors"]) == ("af", some)
    assert made["components"]["tok2vec"]["model"]["embed"]["include_static_vectors"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lang", "afr"], "--lang: write af, spaCy's code for Afrikaans."),
        (["--lang", "zz"], "--lang zz: spaCy has no such language"),
        (["--parser", "nm_parse"], "nl_covington_parser, nm_parser,"),
        (["--parser", "no.cfg"], "no.cfg"),
        (["--pipeline", "tagger"], "--pipeline is one of whole, parser, not 'tagger'"),
    ],
)
def test_wrong_options(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nmparse(["init-config", str(tmp_path / "x.cfg"), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "x.cfg").exists()


def test_from_a_treebank_to_a_model_card(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("udtools", reason="needs the package udtools")
    (treebank / "README.md").write_text("License: CC BY-SA 4.0\n", encoding="utf-8")
    train_file = treebank / "toy_test-ud-train.conllu"
    train_file.write_text(f"{CONLLU}\n" * 5, encoding="utf-8")
    corpus, models, metrics = (tmp_path / name for name in ("corpus", "models", "metrics"))
    data = [str(treebank), str(corpus), "--n-sents", "2", "--merge-subtokens", "auto"]
    assert nmparse(["convert", *data, "--lang", "en"]) == 0
    systems = ["nl_covington_parser", "none"]
    train = ["train", str(corpus), str(models), *systems, "--lang", "en", "--epochs", "1"]
    small = ["--set", "components.tok2vec.model.encode.depth=1"]
    assert demo.main([*train, "--pipeline", "whole", *small]) == 0
    scores = ["evaluate", str(models), str(corpus), str(metrics), *systems]
    assert demo.main([*scores, "--treebank", f'"{treebank}"']) == 0
    capsys.readouterr()
    assert demo.main(["table", str(metrics), *systems]) == 0
    out = capsys.readouterr().out
    for metric in ("Words", "UPOS", "UFeats", "Lemmas", "MLAS", "BLEX"):
        assert f"from raw text: {metric.lower() if metric == 'Words' else metric} F1" in out
    assert "XPOS" not in out  # the treebank has none
    model = models / "nl_covington_parser" / "model-best"
    source = source_of(treebank)
    meta = card(model, metrics / "nl_covington_parser-raw.json", [source], "nl_covington_parser_ud")
    assert meta["license"] == "CC-BY-SA-4.0"
    page = generate_readme(meta)
    assert f"[the authors of {source.name} (data)]({source.url})" in page
    assert "]()" not in page
    raw = json.loads((metrics / "nl_covington_parser-raw.json").read_text(encoding="utf-8"))
    assert meta["performance"]["conll18_LAS"] == raw["conll18"]["LAS"]
    assert "entities" in meta["notes"] and "nmparse parse en_nl_covington" in meta["notes"]
    sources = [source, Source("UD_Other", "", "MIT")]
    meta = card(model, metrics / "nl_covington_parser-raw.json", sources, "x")
    assert meta["license"] == "CC-BY-SA-4.0 AND MIT" and len(meta["sources"]) == 2
    assert "UD_Toy-Test, UD_Other" in meta["description"]
    with pytest.raises(FileNotFoundError, match="evaluates first"):
        card(model, tmp_path / "none.json", [source], "x")
    nlp = spacy.load(model)
    assert nlp.pipe_names == PIPES
    parse = {"heads": [1, 1], "deps": ["nsubj", "ROOT"], "pos": ["PRON", "VERB"]}
    doc = Doc(nlp.vocab, words=["I", "see"], **parse)
    assert [chunk.text for chunk in doc.noun_chunks] == ["I"]
    text = doc_to_conllu(nlp("don't! A catsat on"))
    assert "1-2\tdon't\t" in text and "\tcat\t" in text and "\tsat\t" in text
    assert format_errors(text, level=1) == []


@pytest.mark.parametrize("pipeline", ["whole", "parser"])
def test_learn_on(
    treebank: Path,
    tmp_path: Path,
    pipeline: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From the trained weights, of which an average over few updates is far; after a training that
    has failed, from what it has left."""
    made, old, new = tmp_path / "made.cfg", tmp_path / "old" / "model-best", tmp_path / "new"
    init = ["init-config", str(made), "--lang", "tr", "--pipeline", pipeline]
    assert nmparse([*init, "--parser", "nm_parser"]) == 0
    files = [str(treebank / f"toy_test-ud-{split}.conllu") for split in ("train", "dev")]
    data = {"paths.train": files[0], "paths.dev": files[1], "training.max_epochs": 1}
    train(made, tmp_path / "old", overrides=data)
    capsys.readouterr()
    learn_on = ["learn-on", str(old), files[0], "--epochs", "1", "-o", str(new)]
    dev = ["--dev", files[1]] if pipeline == "whole" else []

    def fail(config: Path, output: Path) -> None:
        if not dev:  # late
            train(config, output)
        raise ValueError("No space left")

    with monkeypatch.context() as patch:
        patch.setattr("spacy_nmparse.cli.learn_on.train", fail)
        assert nmparse([*learn_on, *dev]) == 2 and "No space left" in capsys.readouterr().err
    if os.name == "posix":
        with alone(new / "unfinished.cfg"):
            assert nmparse([*learn_on, *dev]) == 2 and "Another process" in capsys.readouterr().err
    assert nmparse([*learn_on, *dev]) == 0
    out = capsys.readouterr().out
    kept = new / "earlier-1" / "model-last"
    assert (f"goes on from {kept}" in out) == kept.is_dir() == (not dev)
    assert not (new / "unfinished.cfg").exists() and (new / "learn-on.cfg").is_file()
    name = "model-best" if dev else "model-last"
    assert out.endswith(f"The pipeline: {new / name}\n")
    assert bool(re.search(r"LAS \d+\.\d\d before, \d+\.\d\d now \([+-]", out)) == bool(dev)
    assert (new / "model-best").exists() == bool(dev)
    assert (new / "scores.jsonl").is_file()
    one, other = spacy.load(old), spacy.load(new / name)
    assert other.pipe_names == one.pipe_names
    for key in ("tokenizer", "after_pipeline_creation"):
        assert other.config["nlp"][key] == one.config["nlp"][key]
    weights = [nlp.get_pipe("parser").model.get_param("word_W") for nlp in (one, other)]
    assert 0 < abs(weights[0] - weights[1]).max() < 0.001
    assert nmparse(learn_on) == 2 and "exists already" in capsys.readouterr().err


def test_learn_on_needs_trees_and_a_parser(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written where something is wrong with what was given."""
    spacy.blank("tr").to_disk(tmp_path / "blank")
    train_file = treebank / "toy_test-ud-train.conllu"
    for file, message in ((train_file, "has no parser"), (tmp_path / "no.conllu", "no file")):
        learn_on = ["learn-on", str(tmp_path / "blank"), str(file), "-o", str(tmp_path / "new")]
        assert nmparse(learn_on) == 2 and message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
