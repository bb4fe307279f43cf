"""The scripts that make data, evaluate and print, and the project's workflows."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from spacy.tokens import Doc
from spacy.util import load_config
from spacy.vocab import Vocab

from scripts import convert_ud, demo, evaluate, prepare_demo
from spacy_nmparse.scorers.operations import members
from spacy_nmparse.ud.treebank import convert, find_splits, write_docs
from tests.toy_treebank import CONLLU, ROOT, SMALL, read


def test_convert_single_sentences(treebank: Path, tmp_path: Path) -> None:
    assert convert_ud.main([str(treebank), str(tmp_path / "out")]) == 0
    for split in ("train", "dev", "test"):
        docs = read(tmp_path / "out" / f"{split}.spacy")
        assert [len(doc) for doc in docs] == [3, 4, 1], split
        first, second, _ = docs
        assert [token.text for token in first] == ["do", "n't", "!"]
        assert first.text == "don't! "
        assert [token.head.i for token in second] == [3, 2, 2, 1]
        assert [token.dep_ for token in second] == ["det", "obj", "ROOT", "acl:relcl"]
        assert second.text == "A catsat on "
        assert [token.is_sent_start for token in second] == [True, False, False, False]


def test_convert_documents(treebank: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--n-sents", "2", "--with-single", "--merge-subtokens"]
    assert convert_ud.main([f'"{treebank}"', str(out), *options]) == 0
    sizes = [[len(sent) for sent in doc.sents] for doc in read(out / "train.spacy")]
    assert sizes == [[2, 4], [1], [2]]
    assert [len(list(doc.sents)) for doc in read(out / "dev.spacy")] == [2, 1]
    assert [token.text for token in read(out / "dev.spacy")[0]][:2] == ["don't", "!"]


def test_convert_compares_tokens(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [str(treebank), str(tmp_path / "out"), "--lang", "en"]
    assert convert_ud.main([*command, "--merge-subtokens"]) == 0
    merged = capsys.readouterr().out
    # do n't ! A catsat on Yes, of which don't is one token of the data, and cat and sat are two
    figure = 100 * 2 * 4 / (7 + 7)
    assert f"with --merge-subtokens: train {figure:.2f}, dev {figure:.2f}" in merged
    assert f"Without --merge-subtokens: dev {100 * 2 * 6 / (8 + 7):.2f}" in merged
    assert "fits better without: convert with --merge-subtokens no" in merged
    assert re.search(r"(?m)^ +3 +don't +do n't$", merged)
    assert re.search(r"(?m)^ +3 +cat sat +catsat$", merged)
    assert convert_ud.main([*command, "--merge-subtokens", "no"]) == 0
    apart = capsys.readouterr().out
    assert "fits better" not in apart and "do n't" not in apart
    assert convert_ud.main([*command[:-1], "nonsense"]) == 1
    assert "nonsense" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [("1\tA\t_\n", "line 1: 3 columns instead of 10"), ("\n\n", "holds no sentence")],
)
def test_convert_names_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, message: str
) -> None:
    bad = tmp_path / "bad.conllu"
    bad.write_text(content, encoding="utf-8")
    assert convert_ud.main([str(tmp_path / "out"), "--train", str(bad)]) == 1
    assert message in capsys.readouterr().err
    assert convert_ud.main([str(tmp_path / "none"), str(tmp_path / "out")]) == 1
    assert "No folder" in capsys.readouterr().err


def test_find_splits_complains(treebank: Path) -> None:
    (treebank / "other-train.conllu").write_text(CONLLU, encoding="utf-8")
    with pytest.raises(ValueError, match="several train files"):
        find_splits(treebank)
    (treebank / "toy_test-ud-dev.conllu").unlink()
    (treebank / "other-train.conllu").unlink()
    with pytest.raises(FileNotFoundError, match="dev"):
        find_splits(treebank)


GROUPS = """\
1\tAç\taç\tNOUN\tNN\tA=1\t2\tig\t_\tSpaceAfter=No
2\tan\t_\tADJ\tVJ\tB=2\t4\tamod\t_\t_
3\tiyi\tiyi\tADV\tRB\t_\t1\tadvmod\t_\t_
4\tgel\tgel\tVERB\tVB\t_\t5\tig\t_\tSpaceAfter=No
5\tdi\t_\tVERB\tVB\tC=3\t0\troot\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t5\tp\t_\t_"""


def test_join_groups() -> None:
    rows = [row.split("\t") for row in prepare_demo.join_groups(GROUPS).split("\n")]
    assert [row[:2] + row[6:8] for row in rows] == [
        ["1", "Açan", "3", "amod"],
        ["2", "iyi", "1", "advmod"],
        ["3", "geldi", "0", "root"],
        ["4", ".", "3", "p"],
    ]
    assert rows[0][2:6] == ["aç", "ADJ", "VJ", "B=2"]
    assert [row[9] for row in rows] == ["_", "_", "SpaceAfter=No", "_"]
    with pytest.raises(ValueError, match=r"Row 1 \(Aç\)"):
        prepare_demo.join_groups(GROUPS.replace("2\tig", "3\tig"))
    with pytest.raises(ValueError, match="last row"):
        prepare_demo.join_groups(GROUPS.split("\n")[0])


@pytest.mark.parametrize("groups", ("join", "keep"))
def test_prepare_demo_splits(tmp_path: Path, groups: str) -> None:
    rows = GROUPS.split("\n")
    paths = []
    for name in ("web", "wiki"):
        sentences = []
        for index in range(25):
            own = [row.replace("iyi", f"{name}{index}") for row in rows]
            sentences.append(f"# sent_id = {index}\n" + "\n".join(own))
        paths.append(tmp_path / f"{name}.conllu")
        paths[-1].write_text("\n\n".join(sentences), encoding="utf-8")
    written = prepare_demo.prepare(paths, tmp_path / "out", groups)
    marks: dict[str, list[str]] = {}
    for split, path in written.items():
        docs = read(path)
        assert max(len(list(doc.sents)) for doc in docs) <= 10
        marks[split] = [
            token.text for doc in docs for token in doc if token.text.startswith(("web", "wiki"))
        ]
        per_sentence = 4 if groups == "join" else 6
        assert {len(sent) for doc in docs for sent in doc.sents} == {per_sentence}
    assert marks["dev"] == ["web8", "web18", "wiki8", "wiki18"]
    assert marks["test"] == ["web9", "web19", "wiki9", "wiki19"]
    assert len(set(marks["train"])) == 42
    assert len(marks["train"]) == 42 + 5  # each tenth once more, alone
    assert not set(marks["train"]) & {*marks["dev"], *marks["test"]}


def test_prepare_demo_one_sentence_a_document(tmp_path: Path) -> None:
    source = tmp_path / "a.conllu"
    source.write_text("\n\n".join([GROUPS.strip()] * 20) + "\n", encoding="utf-8")
    written = prepare_demo.prepare([source], tmp_path / "out", n_sents=1)
    assert find_splits(tmp_path / "out") == written
    counts = {split: len(read(path)) for split, path in written.items()}
    assert counts == {"train": 16, "dev": 2, "test": 2}


def test_prepare_demo_on_the_treebank(tmp_path: Path) -> None:
    pytest.importorskip("turkish_treebanks", reason="needs the package turkish-treebanks")
    web, wiki = prepare_demo.find_treebank()
    assert (web.name, wiki.name) == ("web.conllu", "wiki.conllu")
    short = tmp_path / "short.conllu"
    sentences = web.read_text(encoding="utf-8").split("\n\n")[:50]
    short.write_text("\n\n".join(sentences), encoding="utf-8")
    written = prepare_demo.prepare([short], tmp_path / "out")
    text = next(line[9:] for line in sentences[8].split("\n") if line.startswith("# text = "))
    assert read(written["dev"])[0].text.startswith(text.strip())


def test_configs_differ_in_the_parser_only() -> None:
    configs = [load_config(ROOT / "configs" / f"{name}.cfg") for name in demo.SYSTEMS]
    parsers = [config["components"].pop("parser") for config in configs]
    configs[0]["initialize"]["components"].pop("parser")  # spaCy's parser learns from no teacher
    configs[0]["paths"].pop("teacher")
    for config in configs:  # those that are null are the component's, and not weighed
        weights = config["training"]["score_weights"]
        config["training"]["score_weights"] = {
            key: w for key, w in weights.items() if w is not None
        }
    encoders = [config["components"]["tok2vec"]["model"]["encode"] for config in configs]
    assert [encoder.pop("depth") for encoder in encoders] == [1, 4]  # below recurrent layers, one
    assert configs[0] == configs[1]
    assert [parser["factory"] for parser in parsers] == ["nm_parser", "parser"]
    listeners = [parser["model"]["tok2vec"] for parser in parsers]
    assert listeners[0] == listeners[1]
    assert listeners[0]["@architectures"] == "spacy.Tok2VecListener.v1"
    training = configs[0]["training"]
    assert training["patience"] == 0
    assert training["score_weights"]["dep_las"] == 1


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


def gold_file(tmp_path: Path) -> Path:
    words = ["a", "b", "c", "d", "e"]
    doc = Doc(
        Vocab(),
        words=words,
        spaces=[True] * 5,
        heads=[0, 0, 0, 3, 3],
        deps=["ROOT", "obj", "nsubj", "ROOT", "punct"],
    )
    write_docs([doc], tmp_path / "gold.spacy")
    return tmp_path / "gold.spacy"


def test_evaluate(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = gold_file(tmp_path)
    output = tmp_path / "scores" / "out.json"
    assert evaluate.main([str(model), str(gold), "-o", str(output)]) == 0
    result = json.loads(output.read_text(encoding="utf-8"))
    assert result["per_sentence"] == {"words": [3, 2], "heads": [2, 2], "labelled": [2, 1]}
    assert result["scores"]["uas_all"] == pytest.approx(4 / 5)
    assert result["scores"]["las_all"] == pytest.approx(3 / 5)
    assert result["scores"]["dep_exact"] == 0
    assert result["words_per_second"] > 0
    assert result["versions"]["spacy"] == spacy.__version__
    assert str(tmp_path) not in output.read_text(encoding="utf-8")
    assert "80.00" in capsys.readouterr().out
    pytest.importorskip("udtools", reason="needs the package udtools")
    for tokens in ("gold", "raw"):
        whole = evaluate.evaluate(spacy.load(model), gold, unit="doc", tokens=tokens)
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
    command = [str(tmp_path / "splits"), str(tmp_path / "gold.spacy"), "--tokens", "raw"]
    assert evaluate.main([*command, "-o", str(tmp_path / "x.json")]) == 0
    found = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["conll18"]
    assert found["Words"] == found["LAS"] == pytest.approx(2 / 5)
    out = capsys.readouterr().out
    assert re.search(r"F1 against the words of gold.spacy\n(.*\n)* +LAS +40.00\n", out)
    assert "dep_las" not in out


def test_the_evaluation_names_the_extra_that_it_needs(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evaluate.conll18, "find_spec", lambda name: None)
    gold = str(gold_file(tmp_path))
    assert evaluate.main([str(model), gold]) == 0
    capsys.readouterr()
    folder = str(tmp_path)
    commands = [(evaluate, [str(model), gold, "--tokens", "raw"])]
    commands += [(demo, ["train", folder, folder]), (demo, ["evaluate", *[folder] * 3])]
    for program, arguments in commands:
        assert program.main(arguments) == 1
        assert "extra demo" in capsys.readouterr().err
    extras = configparser.ConfigParser()
    extras.read(ROOT / "setup.cfg", encoding="utf-8")
    for extra in ("demo", "test", "bench"):
        assert "udtools" in extras["options.extras_require"][extra], extra


def test_evaluate_presets_sentences(model: Path, tmp_path: Path) -> None:
    nlp = spacy.load(model)
    doc = evaluate.read_docs(nlp, gold_file(tmp_path))[0]
    preset = evaluate.blank_copy(nlp, doc, "gold", "gold")
    assert [token.is_sent_start for token in preset] == [True, False, False, True, False]
    free = evaluate.blank_copy(nlp, doc, "gold", "none")
    assert not free.has_annotation("SENT_START")
    with pytest.raises(ValueError, match="--tokens gold"):
        evaluate.blank_copy(nlp, doc, "raw", "gold")


def test_evaluate_shows_tags() -> None:
    nlp = spacy.blank("xx")
    gold = Doc(nlp.vocab, words=["a", "b"], tags=["X", "Y"], heads=[0, 0], deps=["ROOT", "obj"])
    assert [t.tag_ for t in evaluate.blank_copy(nlp, gold, "gold", "none", "data")] == ["X", "Y"]
    assert not evaluate.blank_copy(nlp, gold, "gold", "none").has_annotation("TAG")
    with pytest.raises(ValueError, match="--tags data need --tokens gold"):
        evaluate.blank_copy(nlp, gold, "raw", "none", "data")


def test_evaluate_with_another_setting(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, output = gold_file(tmp_path), tmp_path / "x.json"
    setting = "nlp.batch_size=3"
    assert evaluate.main([str(model), str(gold), "-o", str(output), "--set", setting]) == 0
    assert json.loads(output.read_text())["command"].endswith(f"--set {setting}")
    wrong = "components.parser.beam_width=3"
    assert evaluate.main([str(model), str(gold), "--set", wrong]) == 1
    assert "components -> parser -> beam_width" in capsys.readouterr().err
    assert evaluate.main([str(model), str(gold), "--set", "beam_width"]) == 1
    assert "KEY=VALUE" in capsys.readouterr().err


def test_evaluate_names_what_is_missing(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate.main([str(model), str(tmp_path / "none.spacy")]) == 1
    assert "none.spacy" in capsys.readouterr().err


def test_demo_shows_trees() -> None:
    doc = Doc(
        Vocab(),
        words=["A", "cat", "sat", "\n", "Yes"],
        heads=[1, 2, 2, 2, 4],
        deps=["det", "nsubj", "ROOT", "dep", "ROOT"],
    )
    assert demo.show(doc).split("\n") == [
        "A cat sat",
        "   1  A       2  det          cat",
        "   2  cat     3  nsubj        sat",
        "   3  sat     0  ROOT",
        "   4          3  dep          sat",
        "",
        "Yes",
        "   1  Yes     0  ROOT",
    ]


def test_demo_steps(treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("udtools", reason="needs the package udtools")
    corpus = tmp_path / "corpus"
    convert(find_splits(treebank), corpus, 2)
    models, metrics = tmp_path / "models", tmp_path / "metrics"
    systems = ["--systems", "spacy_parser", "none"]
    train = ["train", str(corpus), str(models), "--epochs", "1", *systems]
    assert demo.main([*train, "--set", SMALL[0], "--set", SMALL[1]]) == 0
    # What an earlier run has left is neither evaluated nor shown.
    shutil.copytree(models / "spacy_parser", models / "nm_parser")
    assert demo.main(["evaluate", str(models), str(corpus), str(metrics), *systems]) == 0
    (metrics / "nm_parser-gold.json").write_text("{}", encoding="utf-8")
    assert demo.main(["table", str(metrics), *systems]) == 0
    best = models / "spacy_parser" / "model-best"
    assert demo.main(["parse", str(best), "--corpus", str(corpus / "test.spacy")]) == 0
    no_wheel = ["package", str(best), str(tmp_path / "packages"), "--name", "x", "--wheel", "none"]
    assert demo.main(no_wheel) == 0
    assert not (tmp_path / "packages").exists()
    out = capsys.readouterr().out
    assert "[spacy_parser]" in out and "nm_parser" not in out
    assert "LAS, all words" in out
    raw = json.loads((metrics / "spacy_parser-raw.json").read_text(encoding="utf-8"))["conll18"]
    for title, metric in (("tokens", "Tokens"), ("LAS", "LAS"), ("CLAS", "CLAS")):
        assert re.search(rf"from raw text: {title} F1 +{100 * raw[metric]:.2f}\b", out), title
    assert "xx_pipeline 0.0.0: ['tok2vec', 'parser']" in out
    assert demo.main(["parse", str(best)]) == 1
    assert demo.main(["table", str(tmp_path)]) == 1
    assert demo.main(["evaluate", str(tmp_path), str(corpus), str(metrics)]) == 1
    assert demo.main(["package", str(models), str(tmp_path), "--name", "x"]) == 1


def test_teachers(treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three parsers of different kinds teach a whole pipeline, which reads more."""
    pytest.importorskip("udtools", reason="needs the package udtools")
    convert(find_splits(treebank), tmp_path, 2)
    train = ["train", str(tmp_path), str(tmp_path / "models"), "--epochs", "10", "--seed", "7"]
    whole = ["--systems", "nm_parser", "--pipeline", "whole", "--teachers", "3"]
    assert demo.main([*train, *whole]) == 0
    folder = tmp_path / "models" / "nm_parser"
    config = load_config(folder / "model-best" / "config.cfg")
    training = config["training"]
    assert (training["max_epochs"], training["max_steps"]) == (15, 15_000)
    assert training["seed"] == "${system.seed}"
    assert training["batcher"]["regroup"] and training["batcher"]["level"] is None
    assert config["system"]["seed"] == 7
    assert Path(config["paths"]["teacher"]) == folder / "teachers" / "together"
    for wrong in (["--teachers", "1"], ["--teachers", "2", "--systems", "spacy_parser"]):
        assert demo.main([*train, *wrong]) == 1
        assert "--teachers" in capsys.readouterr().err
    pipelines = [spacy.load(folder / "teachers" / name / "model-best") for name in ("7", "8", "9")]
    weights = [nlp.get_pipe("parser").to_bytes(exclude=["vocab"]) for nlp in pipelines]
    assert len(set(weights)) == 3
    plain, phrases, wide = (nlp.config for nlp in pipelines)
    levels = [config["training"]["batcher"]["level"] for config in (plain, phrases, wide)]
    assert levels == [None, 0.0, None]
    assert (plain["training"]["max_epochs"], plain["training"]["max_steps"]) == (5, 5_000)
    models = [config["components"]["parser"]["model"] for config in (plain, wide)]
    assert [model["recurrent_width"] for model in models] == [64, 128]
    together = spacy.load(folder / "teachers" / "together")
    assert len(members(together.get_pipe("parser").model)) == 3
    assert spacy.load(folder / "model-best").pipe_names[-2:] == [
        "ud_lemmatizer",
        "multiword_tokens",
    ]


def dry_run(folder: Path, *options: str) -> str:
    """What the workflow `ud` would run, as spaCy prints it."""
    for name in ("configs", "scripts", "project.yml"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", "spacy", "project", "run", "ud", str(folder), "--dry"]
    done = subprocess.run([*command, *options], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_workflow_ud_runs_what_it_was_given(tmp_path: Path) -> None:
    out = dry_run(tmp_path, "--vars.local", "some folder/UD_English-EWT", "--vars.ud_epochs", "7")
    assert "convert_ud.py 'some folder/UD_English-EWT' corpus/ud " in out
    assert "--epochs 7 " in out and "--systems nl_covington_parser spacy_parser" in out
    assert "Gothic" not in out
    assert "--teachers 0 " in out
    out = dry_run(tmp_path, "--vars.baseline", "none", "--vars.wheel", "none")
    assert "convert_ud.py assets/UD_Gothic-PROIEL corpus/ud " in out
    assert "spacy_parser" not in out
    assert out.count("--systems nl_covington_parser none") == 3
    assert "--wheel none" in out


def interpolate(text: str, values: dict[str, Any]) -> str:
    """Put in the project's variables, as spaCy does."""
    return re.sub(r"\$\{vars\.(\w+)\}", lambda found: str(values[found[1]]), text)


def test_project_file(tmp_path: Path) -> None:
    """The workflows name commands, the commands name files that exist, and the document is made."""
    project = srsly.read_yaml(ROOT / "project.yml")
    commands = {command["name"]: command for command in project["commands"]}
    for steps in project["workflows"].values():
        assert set(steps) <= set(commands)
    for command in commands.values():
        files = [*command.get("deps", ())]
        files += [word for line in command["script"] for word in line.split()]
        for file in (interpolate(file, project["vars"]) for file in files):
            # the other benchmarks have tests of their own
            own = ("accuracy", "compare", "segmentation", "table")
            if file.startswith(("scripts/", "configs/", *(f"benchmarks/{name}" for name in own))):
                assert (ROOT / file).is_file(), (command["name"], file)

    command = [sys.executable, "-m", "spacy", "project", "document", str(ROOT)]
    target = tmp_path / "project.md"
    done = subprocess.run(
        [*command, "--output", str(target)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    text = target.read_text(encoding="utf-8")
    names = "demo ud exhaustive speed scale memory accuracy compare segmentation table"
    for name in names.split():
        assert f"`{name}`" in text, name
