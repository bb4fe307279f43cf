"""Comparison with spaCy's parsers, UDPipe and released pipelines; the CoNLL 2018 program."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config
from spacy.vocab import Vocab

from benchmarks import compare, contestants, pipelines, raw_text, released, report, speed, udpipe
from benchmarks.treebanks import Treebank
from spacy_nmparse.analysis.evaluate import evaluate
from spacy_nmparse.ud import conll18
from spacy_nmparse.ud.treebank import convert
from tests.toy_treebank import CONLLU, SMALL, benchmarked

ROWS = """\
# text = cats don't sleep
1\tcats\tcat\tNOUN\t_\t_\t4\tnsubj\t4:nsubj\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\t_\t_\t4\taux\t4:aux\t_
3\tnot\tnot\tPART\t_\t_\t4\tadvmod:neg\t4:advmod\t_
4\tsleep\tsleep\tVERB\t_\t_\t0\troot\t0:root\t_
4.1\tempty\t_\t_\t_\t_\t_\t_\t0:root\t_

1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_
2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_
"""


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.conllu"
    path.write_text(ROWS, encoding="utf-8")
    return path


def parse(heads: list[int], deps: list[str]) -> Doc:
    words = ["cats", "do", "not", "sleep", "Yes", "!"]
    return Doc(Vocab(), words=words[: len(heads)], heads=heads, deps=deps)


def test_conll18_scores(gold: Path) -> None:
    pytest.importorskip("udtools", reason="needs the package udtools")
    deps = ["nsubj", "aux", "advmod", "ROOT", "ROOT", "punct"]
    doc = parse([3, 3, 3, 3, 4, 4], deps)
    # the subtype does not count
    assert conll18.score_words(gold, [doc]) == {"UAS": 1, "LAS": 1, "CLAS": 1}
    wrong = parse([1, 3, 3, 3, 4, 4], [*deps[:1], "cop", *deps[2:]])
    found = conll18.score_words(gold, [wrong])
    # of cats, not, sleep and Yes, the head of cats is wrong
    assert found == {"UAS": pytest.approx(5 / 6), "LAS": pytest.approx(4 / 6), "CLAS": 3 / 4}
    split = parse([0, 3, 3, 3, 4, 4], ["ROOT", *deps[1:]])
    assert len(list(split.sents)) == 3
    assert conll18.score_words(gold, [split])["UAS"] == pytest.approx(5 / 6)
    cut = parse([0, 1, 2, 2, 4, 4], ["ROOT", "ROOT", *deps[2:]])  # in a multiword token
    assert conll18.score_words(gold, [cut])["UAS"] == pytest.approx(2 / 6)


def test_conll18_wants_the_same_words(gold: Path) -> None:
    pytest.importorskip("udtools", reason="needs the package udtools")
    doc = parse([3, 3, 3, 3], ["nsubj", "aux", "advmod", "ROOT"])
    with pytest.raises(ValueError, match="fewer words"):
        conll18.score_words(gold, [doc])
    with pytest.raises(ValueError, match="more words"):
        conll18.put_in(conll18.read_rows(gold)[:1], [doc, doc])
    with pytest.raises(ValueError, match=r"'cats' where .* 'Yes'"):
        conll18.put_in(conll18.read_rows(gold)[1:], [doc])


def text_parse(label: str = "nsubj") -> Doc:
    """Every head right; don't is split, which the gold data below do not."""
    return Doc(
        Vocab(),
        words=["cats", "do", "n't", "sleep", "\n", "Yes", "!"],
        spaces=[True, False, True, False, False, False, False],
        heads=[3, 3, 3, 3, 3, 5, 5],
        deps=[label, "aux", "advmod", "ROOT", "dep", "ROOT", "punct"],
    )


@pytest.fixture
def merged() -> Doc:
    return Doc(
        Vocab(),
        words=["cats", "don't", "sleep", "Yes", "!"],
        heads=[2, 2, 2, 3, 3],
        deps=["nsubj", "aux", "ROOT", "ROOT", "punct"],
    )


def test_conll18_scores_of_a_text(gold: Path, merged: Doc) -> None:
    """Words that are split otherwise count on both sides."""
    pytest.importorskip("udtools", reason="needs the package udtools")
    found = conll18.score_text([merged], [text_parse("nsubj:pass")])
    # 4 of 5 gold words and of 6 others; of content words 3 of 3 and of 4
    f1 = pytest.approx(8 / 11)
    names = ("Tokens", "Words", "UAS", "LAS")
    assert found == {"Sentences": 1, **dict.fromkeys(names, f1), "CLAS": pytest.approx(6 / 7)}
    wrong = conll18.score_text([merged], [text_parse("obj")])
    assert wrong == {**found, "LAS": pytest.approx(6 / 11), "CLAS": pytest.approx(4 / 7)}
    # the file splits don't into do and not: do is right, n't is not
    split = conll18.score_text(gold, [text_parse()])
    assert (split["Tokens"], split["Words"], split["LAS"]) == (f1, *[pytest.approx(10 / 12)] * 2)


def test_conll18_of_whitespace(merged: Doc) -> None:
    """A word below a whitespace token goes to its head."""
    pytest.importorskip("udtools", reason="needs the package udtools")
    parse = text_parse()
    parse[0].head = parse[4]
    found = conll18.score_text([merged], [parse])
    assert (found["UAS"], found["LAS"]) == (pytest.approx(8 / 11), pytest.approx(8 / 11))
    below = Doc(Vocab(), words=["\n", "Yes"], heads=[0, 0], deps=["ROOT", "obj"])
    before = r"SpacesBefore=\n\s"
    assert conll18.rows_of([below]) == [[["1", "Yes", *"____", "0", "root", "_", before]]]
    assert conll18.rows_of([Doc(Vocab(), words=["\n"])]) == []


def test_conll18_of_a_text_says_what_it_cannot_score(merged: Doc) -> None:
    pytest.importorskip("udtools", reason="needs the package udtools")
    bare = Doc(Vocab(), words=["cats", "don't", "sleep", "Yes!"])
    found = conll18.score_text([merged], [bare])
    assert found["Tokens"] == pytest.approx(6 / 9)
    assert found["UAS"] is found["LAS"] is found["CLAS"] is None
    merged[0].dep_ = ""
    assert "without a head" in conll18.score_text([merged], [text_parse()])["error"]
    heads = [min(4999, i + 1) for i in range(5000)]
    chain = Doc(Vocab(), words=["x"] * 5000, heads=heads, deps=["dep"] * 4999 + ["ROOT"])
    assert "too deep" in conll18.score_text([chain], [chain])["error"]


@spacy.Language.component("left_for_test_compare")
def left(doc: Doc) -> Doc:
    for token in doc:
        token.head = doc[max(0, token.i - 1)]
        token.dep_ = "obj" if token.i else "ROOT"
    return doc


def test_evaluate_by_conll18(tmp_path: Path) -> None:
    pytest.importorskip("udtools", reason="needs the package udtools")
    source = tmp_path / "toy.conllu"
    source.write_text(CONLLU, encoding="utf-8")
    convert({"test": source}, tmp_path, n_sents=2)
    nlp = spacy.blank("xx")
    nlp.add_pipe("left_for_test_compare")
    result = evaluate(nlp, tmp_path / "test.spacy", conllu=source)
    # right: Yes; its label too; head and label of nothing else
    assert result["scores"]["uas_all"] == result["conll18"]["UAS"] == 1 / 8

    convert({"test": source}, tmp_path, n_sents=2, merge_subtokens=True)
    data = tmp_path / "test.spacy"
    raw = evaluate(nlp, data, unit="doc", tokens="raw")["conll18"]
    # cat and sat are one token to the tokenizer
    assert raw["Tokens"] == pytest.approx(2 * 5 / (7 + 6))
    # do and n't, which the merged token stands for, are one to the tokenizer too
    assert raw["Words"] == pytest.approx(2 * 4 / (8 + 6))
    words = evaluate(nlp, data, unit="doc", tokens="raw", conllu=source)["conll18"]
    assert words == raw


def test_udpipe_options_are_merged() -> None:
    assert udpipe.merge_options("a=1;b=2", "", "b=3; c=4") == "a=1;b=3;c=4"
    with pytest.raises(ValueError, match="KEY=VALUE"):
        udpipe.merge_options("a=1;b")


def test_udpipe_sees_no_gold(gold: Path) -> None:
    text = udpipe.blank(gold)
    rows = [line.split("\t") for line in text.split("\n") if line]
    assert [row[:2] for row in rows[:3]] == [["1", "cats"], ["2-3", "don't"], ["2", "do"]]
    assert {cell for row in rows for cell in row[2:9]} == {"_"}


@pytest.mark.udpipe
def test_udpipe_learns(tmp_path: Path, gold: Path) -> None:
    pytest.importorskip("ufal.udpipe", reason="needs the package ufal.udpipe")
    pytest.importorskip("udtools", reason="needs the package udtools")
    gold.write_text((ROWS + "\n") * 30, encoding="utf-8")
    tagger, model = tmp_path / "tagger.model", tmp_path / "parser.model"
    files = [str(gold), str(gold)]
    assert udpipe.main(["tagger", *files, str(tagger), "--options", "iterations=2"]) == 0
    options = f"iterations=5;hidden_layer=20;structured_interval=0;{compare.UDPIPE['swap']}"
    command = ["parser", *files, str(model), "--tagger", str(tagger), "--options", options]
    assert udpipe.main(command) == 0
    convert({"test": gold}, tmp_path)
    corpus, output = tmp_path / "test.spacy", tmp_path / "scores.json"
    assert udpipe.main(["evaluate", str(model), str(gold), str(corpus), "-o", str(output)]) == 0
    result = json.loads(output.read_text(encoding="utf-8"))
    assert result["scores"]["las_all"] == result["conll18"]["LAS"] == 1
    assert udpipe.main(["evaluate", str(gold), str(gold), str(corpus), "-o", str(output)]) == 1


def test_speed_reads_beams_from_names() -> None:
    assert speed.split_name("nm_parser", 8) == ("nm_parser", 8, 1)
    assert speed.split_name("nl_covington_parser_beam4", 8) == ("nl_covington_parser", 4, 1)
    assert speed.split_name("nm_parser_beam4_threads2", 8) == ("nm_parser", 4, 2)


def test_speed_tells_which_models() -> None:
    paths = [Path("work/nm_parser-seed1/model-best"), Path("work/swap.model")]
    assert speed.shown(paths) == "--models nm_parser-seed1/model-best swap.model "
    assert speed.shown(None) == ""


def test_speed_refuses_to_mix_classes(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    speed.refuse_other_class(path, "avx2")
    path.write_text(json.dumps({"machine": {"class": "avx2"}}), encoding="utf-8")
    speed.refuse_other_class(path, "avx2")
    with pytest.raises(ValueError, match="measured in the class avx2, and this process has plain"):
        speed.refuse_other_class(path, "plain")


def test_speed_knows_a_model_with_the_switch(tmp_path: Path) -> None:
    """It would be timed with other products than those that the table names."""
    nlp = spacy.blank("xx")
    nlp.to_disk(tmp_path / "plain")
    nlp.config["nlp"]["after_pipeline_creation"] = {"@callbacks": "spacy_nmparse.fast_blas.v1"}
    nlp.to_disk(tmp_path / "switch")
    assert contestants.load(tmp_path / "plain", "default").pipe_names == []
    with pytest.raises(ValueError, match="has the switch in its config"):
        contestants.load(tmp_path / "switch", "default")


@pytest.mark.udpipe
def test_options_of_udpipes_parser(tmp_path: Path) -> None:
    corpus = {split: tmp_path / f"{split}.spacy" for split in ("train", "dev", "test")}
    prepared = Treebank("toy", "1", "xx", {"a": "b"}, corpus, 10, {})
    with pytest.raises(ValueError, match="no CoNLL-U"):
        compare.udpipe_options(prepared, "swap", "", "")
    pytest.importorskip("ufal.udpipe", reason="needs the package ufal.udpipe")
    pytest.importorskip("udtools", reason="needs the package udtools")
    treebank = replace(prepared, conllu=dict.fromkeys(corpus, tmp_path / "a.conllu"))
    options = compare.udpipe_options(treebank, "swap", "iterations=2", "")
    assert udpipe.iterations(options["parser"]) == 2
    parser = options["parser"].split(";")
    assert {"transition_system=swap", "structured_interval=8"} <= set(parser)
    assert "iterations=30" not in parser and options["tagger"] == udpipe.TAGGER


@pytest.mark.udpipe
def test_compare(treebank: Path, tmp_path: Path) -> None:
    """Systems of spaCy and of UDPipe are trained, and kept."""
    for package in ("udtools", "ufal.udpipe"):
        pytest.importorskip(package, reason=f"needs the package {package}")
    (treebank / "toy_test-ud-train.conllu").write_text(f"{CONLLU}\n" * 5, encoding="utf-8")
    command = benchmarked(treebank, "--epochs 1 --seeds 1 --system nm_parser --udpipe swap")
    command += ["--set", SMALL[0]]
    command += ["--udpipe-options", "iterations=1;structured_interval=0"]
    command += ["--udpipe-tagger-options", "iterations=1"]
    for _ in range(2):
        assert compare.main(command) == 0
    files = sorted(path.name for path in (tmp_path / "runs" / treebank.name).iterdir())
    assert files == ["nm_parser-seed1.json", "udpipe_swap-seed1.json"]
    run = json.loads((tmp_path / "runs" / treebank.name / files[1]).read_text(encoding="utf-8"))
    assert run["test"] == run["test_preset"] and run["epochs"] == 1
    assert compare.main([*command, "--udpipe-options", "iterations=2"]) == 1


# Whole pipelines: raw text in, CoNLL-U out


XPOS = "1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\n"


def test_running_text(tmp_path: Path) -> None:
    """Tokens with their spaces, and a blank line before documents and paragraphs."""
    path = tmp_path / "a.conllu"
    first, second, third = CONLLU.strip().split("\n\n")
    path.write_text(f"{first}\n\n# newpar\n{second}\n\n{third}\n\n", encoding="utf-8")
    assert raw_text.running_text(path) == "don't!\n\nA catsat on Yes\n"


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
