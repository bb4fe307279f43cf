"""Comparison with spaCy's parsers and UDPipe, the CoNLL 2018 program, and sentence segmentation."""

from __future__ import annotations

import json
import venv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from benchmarks import compare, graph_parsers, segmentation, speed, udpipe
from benchmarks.systems import find_system
from benchmarks.treebanks import Treebank
from spacy_nmparse.pipe.evaluation import length_counts
from spacy_nmparse.ud import conll18
from spacy_nmparse.ud.evaluate import evaluate, read_docs, references
from spacy_nmparse.ud.treebank import convert
from tests.toy_treebank import CONLLU

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
    rootless = parse([0, 1, 2, 2, 4, 4], ["ROOT", "ROOT", *deps[2:]])
    assert "error" in conll18.score_words(gold, [rootless])


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
    assert conll18.rows_of([below]) == [[["1", "Yes", *"____", "0", "root", "_", "_"]]]
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


def test_evaluate_by_conll18_and_by_length(tmp_path: Path) -> None:
    pytest.importorskip("udtools", reason="needs the package udtools")
    source = tmp_path / "toy.conllu"
    source.write_text(CONLLU, encoding="utf-8")
    convert({"test": source}, tmp_path, n_sents=2)
    nlp = spacy.blank("xx")
    nlp.add_pipe("left_for_test_compare")
    result = evaluate(nlp, tmp_path / "test.spacy", conllu=source)
    # right: Yes; its label too; head and label of nothing else
    assert result["scores"]["uas_all"] == result["conll18"]["UAS"] == 1 / 8
    assert result["by_length"]["root"] == {"words": 3, "heads": 1, "labelled": 1}
    assert result["by_length"]["1"] == {"words": 2, "heads": 0, "labelled": 0}
    assert sum(counts["words"] for counts in result["by_length"].values()) == 8

    convert({"test": source}, tmp_path, n_sents=2, merge_subtokens=True)
    data = tmp_path / "test.spacy"
    raw = evaluate(nlp, data, unit="doc", tokens="raw")["conll18"]
    # cat and sat are one token to the tokenizer
    assert raw["Tokens"] == pytest.approx(2 * 5 / (7 + 6))
    # do and n't, which the merged token stands for, are one to the tokenizer too
    assert raw["Words"] == pytest.approx(2 * 4 / (8 + 6))
    words = evaluate(nlp, data, unit="doc", tokens="raw", conllu=source)["conll18"]
    assert words == raw


def test_length_counts() -> None:
    gold = parse([3, 3, 3, 3, 4, 4], ["nsubj", "aux", "advmod", "ROOT", "ROOT", "punct"])
    pred = parse([3, 2, 3, 3, 4, 4], ["nsubj", "aux", "aux", "ROOT", "ROOT", "punct"])
    found = length_counts(Example(pred, gold))
    counts = {length: (c.words, c.heads, c.labelled) for length, c in found.items()}
    assert counts == {0: (2, 2, 2), 1: (2, 2, 1), 2: (1, 0, 0), 3: (1, 1, 1)}


def test_udpipe_options() -> None:
    assert udpipe.merge_options("a=1;b=2", "", "b=3; c=4") == "a=1;b=3;c=4"
    with pytest.raises(ValueError, match="KEY=VALUE"):
        udpipe.merge_options("a=1;b")


def test_udpipe_sees_no_gold(gold: Path) -> None:
    text = udpipe.blank(gold)
    rows = [line.split("\t") for line in text.split("\n") if line]
    assert [row[:2] for row in rows[:3]] == [["1", "cats"], ["2-3", "don't"], ["2", "do"]]
    assert {cell for row in rows for cell in row[2:9]} == {"_"}


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

    docs = list(references(read_docs(spacy.blank("xx"), corpus), "doc"))
    timed, greedy = (speed.UDPipe(udpipe.Model(model), docs, greedy) for greedy in (False, True))
    speed.measure([timed, greedy], 2)
    assert greedy.name == "parser_greedy"
    assert greedy.found == timed.found
    assert {stage: timing.words for stage, timing in timed.timings.items()} == {
        stage: sum(map(len, docs)) for stage in ("parse", "pipeline")
    }
    assert all(len(timing.seconds) == 2 for timing in timed.timings.values())
    assert timed.found["parse"] == timed.found["pipeline"]
    heads = [line.split("\t")[6] for line in timed.found["parse"].splitlines() if "\t" in line]
    assert heads == [
        str(0 if word.head == word else word.head.i - sentence.start + 1)
        for doc in docs
        for sentence in doc.sents
        for word in sentence
    ]
    timed.found["parse"] = ""
    with pytest.raises(RuntimeError, match="other trees"):
        timed.parse()


def toy(system: str, seed: int, labelled: list[int], epochs: int = 3) -> dict[str, Any]:
    words = [10] * len(labelled)
    las = sum(labelled) / sum(words)
    evaluation = {
        "words_per_second": 2000.0,
        "scores": {"uas_all": las, "las_all": las, "dep_las": las, "nonproj_p": None},
        "conll18": {"UAS": las, "LAS": las, "CLAS": las},
        "by_length": {
            "root": {"words": 10, "heads": 5, "labelled": 5},
            "1": {"words": 0, "heads": 0, "labelled": 0},
        },
        "per_sentence": {"words": words, "heads": labelled, "labelled": labelled},
    }
    return {
        "system": system,
        "treebank": "UD_Toy-Test",
        "seed": seed,
        "epochs": epochs,
        "training": {"seconds": 1.0},
        "dev": evaluation,
        "test_preset": evaluation,
    }


def cells(text: str) -> list[list[str]]:
    lines = (line for line in text.split("\n") if line.startswith("|"))
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def test_compare_keeps_finished_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "runs" / "UD_Toy-Test"
    done: list[str] = []

    def make(name: str, seed: int) -> dict[str, Any]:
        done.append(name)
        if name == "broken":
            raise RuntimeError("it broke")
        return toy(name, seed, [3 + seed, 5])

    def runs(epochs: int) -> list[Any]:
        return [
            compare.Run(
                f"{name}-seed{seed}",
                {"epochs": epochs},
                lambda name=name, seed=seed: make(name, seed),
            )
            for seed in (1, 2)
            for name in ("nm_parser", "broken")
        ]

    assert compare.do(runs(3), folder) == ["broken-seed1", "broken-seed2"]
    assert len(done) == 4
    assert "[3/4] nm_parser-seed2" in capsys.readouterr().out
    assert len(compare.do(runs(3), folder)) == 2
    assert done.count("nm_parser") == 2, "a finished run was done again"
    with pytest.raises(ValueError, match=r"epochs = 3, not 4: delete it"):
        compare.do(runs(4), folder)
    assert compare.main([folder.name, "--table", "--runs", str(folder.parent)]) == 0
    assert cells((folder / "table.md").read_text(encoding="utf-8"))[2][:5] == [
        "nm_parser",
        "2",
        "3",
        "47.50 ± 3.54",
        "47.50 ± 3.54",
    ]
    assert compare.main(["UD_Other", "--table", "--runs", str(folder.parent)]) == 1
    assert "UD_Other" in capsys.readouterr().err


def test_speed_reads_beams_from_names() -> None:
    assert speed.split_name("nm_parser", 8) == ("nm_parser", 8, 1)
    assert speed.split_name("nl_covington_parser_beam4", 8) == ("nl_covington_parser", 4, 1)
    assert speed.split_name("nm_parser_beam4_threads2", 8) == ("nm_parser", 4, 2)


def test_speed_tells_which_models() -> None:
    paths = [Path("work/nm_parser-seed1/model-best"), Path("work/swap.model")]
    assert speed.shown("models", paths) == "--models nm_parser-seed1/model-best swap.model "
    assert speed.shown("udpipe", []) == speed.shown("models", None) == ""


def test_speed_knows_a_model_with_the_switch(tmp_path: Path) -> None:
    """It would be timed with other products than those that the table names."""
    nlp = spacy.blank("xx")
    nlp.to_disk(tmp_path / "plain")
    nlp.config["nlp"]["after_pipeline_creation"] = {"@callbacks": "spacy_nmparse.fast_blas.v1"}
    nlp.to_disk(tmp_path / "switch")
    assert speed.load(tmp_path / "plain", "default").pipe_names == []
    with pytest.raises(ValueError, match="has the switch in its config"):
        speed.load(tmp_path / "switch", "default")


def test_compare_tells_differences(tmp_path: Path) -> None:
    results = {
        "ours": {1: toy("ours", 1, [6, 6]), 2: toy("ours", 2, [8, 8])},
        "udpipe_swap": {1: toy("udpipe_swap", 1, [4, 4], epochs=10)},
    }
    rows = cells(compare.report(results, "test_preset", ["udpipe_swap", "spacy_parser"]))
    ours = next(row for row in rows if row[0] == "ours")
    assert ours[1:3] == ["2", "3"]
    assert ours[5] == "70.00 … 70.00"
    assert ["ours", "LAS", "+30.00", "+30.00 … +30.00", "0.0002"] in rows
    assert ["ours", "50.0", "-"] in rows
    results["ours"][2] = toy("ours", 2, [8, 8, 8])
    with pytest.raises(ValueError, match="other sentences"):
        compare.report(results, "test_preset", [])


def test_compare_lists_runs(tmp_path: Path) -> None:
    corpus = {split: tmp_path / f"{split}.spacy" for split in ("train", "dev", "test")}
    source = tmp_path / "a.conllu"
    prepared = Treebank("toy", "1", "xx", {"a": "b"}, corpus, 10, {})
    systems = [find_system(name) for name in compare.SYSTEMS]
    runs = compare.spacy_runs(prepared, systems, [1, 2], 4, tmp_path, {"a.b": 1})
    assert len(runs) == 12
    assert runs[5].name == "spacy_parser_multihash_freq1-seed1"
    assert runs[5].expected["overrides"] == {**systems[5].overrides, "a.b": 1}
    assert systems[5].overrides["components.parser.min_action_freq"] == 1
    assert compare.udpipe_runs(prepared, [], "", "", tmp_path) == []
    with pytest.raises(ValueError, match="no CoNLL-U"):
        compare.udpipe_runs(prepared, ["swap"], "", "", tmp_path)
    pytest.importorskip("ufal.udpipe", reason="needs the package ufal.udpipe")
    files = dict.fromkeys(corpus, source)
    treebank = Treebank("toy", "1", "xx", {"a": "b"}, corpus, 10, files)
    runs = compare.udpipe_runs(treebank, list(compare.UDPIPE), "iterations=2", "", tmp_path)
    assert [run.name for run in runs][1] == "udpipe_swap-seed1"
    options = runs[1].expected["overrides"]["parser"].split(";")
    assert {"iterations=2", "transition_system=swap", "structured_interval=8"} <= set(options)
    assert "iterations=30" not in options


STANZA, SUPAR = graph_parsers.GRAPH_PARSERS


@pytest.mark.parametrize("parser", [STANZA, SUPAR], ids=lambda parser: parser.name)
def test_graph_parsers(
    tmp_path: Path, gold: Path, monkeypatch: pytest.MonkeyPatch, parser: graph_parsers.GraphParser
) -> None:
    pytest.importorskip("udtools", reason="needs the package udtools")
    splits = ("train", "dev", "test")
    convert(dict.fromkeys(splits, gold), tmp_path)
    corpus = {split: tmp_path / f"{split}.spacy" for split in splits}
    treebank = Treebank("toy", "1", "xx", {"a": "b"}, corpus, 10, dict.fromkeys(splits, gold))
    commands = []
    lines = gold.read_text(encoding="utf-8")

    def parse_as_gold(command: list[str], *_: Any, **__: Any) -> float:
        commands.append(command)
        if {"predict", "parse"} & set(command):
            given, parsed = (part for part in command if part.endswith(".conllu"))
            assert Path(given).read_text(encoding="utf-8").strip() == udpipe.blank(gold).strip()
            Path(parsed).write_text(lines, encoding="utf-8")
        return 2.0

    monkeypatch.setattr(graph_parsers, "run", parse_as_gold)
    monkeypatch.setattr(graph_parsers, "versions", lambda *_: {parser.name: "1"})

    def prepare(options: str, treebank: Treebank = treebank) -> compare.Run:
        return compare.graph_run(parser, treebank, Path("python"), options, tmp_path)

    one = prepare("epochs=5; lr=1.0")
    assert one.expected["overrides"] == {"epochs": "5", "lr": "1.0"}
    assert one.make.args[2].is_absolute(), "it would be looked for in the folder of the run"
    result = one.make()
    assert result["dev"] == result["dev_preset"]
    assert result["test"]["scores"]["las_all"] == result["test"]["conll18"]["LAS"] == 1
    training, *parsing = commands
    if parser is STANZA:
        assert {"train", "--no_pretrain", "--no_upos", "--lr"} <= set(training)
        assert ["predict" in command for command in parsing] == [True, True]
    else:
        assert training[1] == "train" and training[-4:] == ["--set", "epochs=5", "--set", "lr=1.0"]
        assert [command[1] for command in parsing] == ["parse", "parse"]

    lines = "\n".join(line for line in lines.split("\n") if "PUNCT" not in line)
    with pytest.raises(ValueError, match=f"{parser.title} has"):
        one.make()
    with pytest.raises(ValueError, match="KEY=VALUE"):
        prepare("epochs")
    with pytest.raises(ValueError, match="no CoNLL-U"):
        prepare("", replace(treebank, conllu={}))


def test_graph_parser_is_not_there(tmp_path: Path) -> None:
    empty = tmp_path / "python"
    venv.create(empty, with_pip=False)
    (python,) = [*empty.glob("bin/python"), *empty.glob("Scripts/python.exe")]
    with pytest.raises(ImportError, match=r"No module named .* install `stanza` there"):
        graph_parsers.versions(STANZA, python)
    with pytest.raises(FileNotFoundError, match=r"No Python .*none: name .* `supar`"):
        graph_parsers.versions(SUPAR, tmp_path / "none")


def test_segmentation_table() -> None:
    def one(system: str, sents: float, las: float) -> dict[str, Any]:
        names = ("sents_p", "sents_r", "sents_f")
        scores = {**dict.fromkeys(names, sents), "uas_all": las, "las_all": las}
        return {
            "epochs": 3,
            **{key: {"scores": scores} for key in segmentation.EVALUATIONS},
        }

    results = {"nm_parser": {1: one("nm_parser", 0.5, 0.7)}, "senter": {1: one("senter", 0.6, 0.0)}}
    rows = cells(segmentation.report(results, "test"))
    assert rows[2] == ["nm_parser", "1", "3", *["50.00"] * 3, *["70.00"] * 2, "50.00", "70.00"]
    assert rows[3] == ["senter", "1", "3", *["60.00"] * 3, "-", "-", "60.00", "-"]


def test_segmentation_prepares_documents(tmp_path: Path) -> None:
    folder = tmp_path / "UD_Toy-Test"
    folder.mkdir()
    for split in ("train", "dev", "test"):
        (folder / f"toy_test-ud-{split}.conllu").write_text(CONLLU, encoding="utf-8")
    found = segmentation.prepare(folder, tmp_path / "work", None, "1")
    nlp = spacy.blank("xx")
    (doc,) = read_docs(nlp, found.corpus["test"])
    assert len(list(doc.sents)) == 3
    assert doc[0].text == "don't"
    assert (found.lang, found.train_words) == ("xx", 7 + 2)
