"""The scripts that make data, evaluate and print, and the project's workflows."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
import srsly
from spacy.cli import app
from spacy.tokens import Doc, DocBin
from spacy.util import load_config
from typer.testing import CliRunner

from benchmarks.treebanks import find_splits
from scripts import demo, prepare_demo
from scripts.licences import vectors_of
from scripts.packages import wheel_of
from spacy_nmparse.ud.treebank import convert
from tests.toy_treebank import ROOT, SMALL, read

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


def test_prepare_demo_splits(tmp_path: Path) -> None:
    rows = GROUPS.split("\n")
    paths = []
    for name in ("web", "wiki"):
        sentences = []
        for index in range(25):
            own = [row.replace("iyi", f"{name}{index}") for row in rows]
            sentences.append(f"# sent_id = {index}\n" + "\n".join(own))
        paths.append(tmp_path / f"{name}.conllu")
        paths[-1].write_text("\n\n".join(sentences), encoding="utf-8")
    written = prepare_demo.prepare(paths, tmp_path / "out")
    marks: dict[str, list[str]] = {}
    for split, path in written.items():
        docs = read(path)
        assert max(len(list(doc.sents)) for doc in docs) <= 10
        marks[split] = [
            token.text for doc in docs for token in doc if token.text.startswith(("web", "wiki"))
        ]
        assert {len(sent) for doc in docs for sent in doc.sents} == {4}
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


def test_demo_steps(treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("udtools", reason="needs the package udtools")
    corpus = tmp_path / "corpus"
    convert(find_splits(treebank), corpus, 2)
    models, metrics = tmp_path / "models", tmp_path / "metrics"
    systems = ["spacy_parser", "none"]
    train = ["train", str(corpus), str(models), *systems, "--epochs", "1"]
    assert demo.main([*train, "--set", SMALL[0], "--set", SMALL[1]]) == 0
    # What an earlier run has left is neither evaluated nor shown.
    shutil.copytree(models / "spacy_parser", models / "nm_parser")
    assert demo.main(["evaluate", str(models), str(corpus), str(metrics), *systems]) == 0
    (metrics / "nm_parser-gold.json").write_text("{}", encoding="utf-8")
    assert demo.main(["table", str(metrics), *systems]) == 0
    best = models / "spacy_parser" / "model-best"
    assert load_config(best / "config.cfg")["training"]["eval_frequency"] == 1
    assert demo.main(["parse", str(best), "--corpus", str(corpus / "test.spacy")]) == 0
    no_wheel = ["package", str(best), str(tmp_path / "packages"), "--name", "x", "--wheel", "none"]
    assert demo.main(no_wheel) == 0
    assert not (tmp_path / "packages").exists()
    out = capsys.readouterr().out
    assert "[spacy_parser]" in out and "nm_parser" not in out
    assert "LAS, all words" in out and "each gold sentence a document" in out
    assert re.search(r"epochs of training +1\n+seconds of training +\d+\n", out)
    raw = json.loads((metrics / "spacy_parser-raw.json").read_text(encoding="utf-8"))["conll18"]
    for title, metric in (("tokens", "Tokens"), ("LAS", "LAS"), ("CLAS", "CLAS")):
        assert re.search(rf"from raw text: {title} F1 +{100 * raw[metric]:.2f}\b", out), title
    assert "xx_pipeline 0.0.0: ['tok2vec', 'parser']" in out
    assert demo.main(["parse", str(best)]) == 1
    assert demo.main(["table", str(tmp_path)]) == 1
    assert demo.main(["evaluate", str(tmp_path), str(corpus), str(metrics)]) == 1
    assert demo.main(["package", str(models), str(tmp_path), "--name", "x"]) == 1


def test_names_are_checked_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is trained."""
    train = ["train", str(tmp_path), str(tmp_path / "models")]
    given = {"parser": "nm_parser", "baseline": "none", "pipeline": "whole", "wheel": "make"}
    for wrong, name in (("parser", "nope"), ("pipeline", "whol"), ("wheel", "instal")):
        values = [
            f"{key}={value}" for key, value in {**given, wrong: name, "treebanks": "a b"}.items()
        ]
        assert demo.main(["variables", *values]) == 1
        out, err = capsys.readouterr()
        assert f"\n  --vars.{wrong} {name}\n" in out and "  --vars.treebanks a b" in out
        assert f"{name!r}: it is one of " in err
    for wrong_options in (["spacy_parser", "nope"], ["nm_parser", "--pipeline", "whol"]):
        assert demo.main([*train, *wrong_options]) == 1
        assert f"{wrong_options[-1]!r}: it is one of " in capsys.readouterr().err
    assert demo.main(["variables", *(f"{key}={value}" for key, value in given.items())]) == 0


def test_teachers(treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three parsers of different kinds teach a whole pipeline, which reads more."""
    pytest.importorskip("udtools", reason="needs the package udtools")
    convert(find_splits(treebank), tmp_path, 2)
    train = ["train", str(tmp_path), str(tmp_path / "models"), "--epochs", "10", "--seed", "7"]
    whole = ["nm_parser", "--pipeline", "whole", "--teachers", "3"]
    assert demo.main([*train, *whole]) == 0
    folder = tmp_path / "models" / "nm_parser"
    config = load_config(folder / "model-best" / "config.cfg")
    training = config["training"]
    assert (training["max_epochs"], training["max_steps"]) == (15, 15_000)
    assert training["seed"] == "${system.seed}"
    assert training["batcher"]["regroup"] and training["batcher"]["level"] is None
    assert config["system"]["seed"] == 7
    taught = [str(folder / "teachers" / name / "model-best") for name in ("7", "8", "9")]
    assert config["paths"]["teacher"] == taught
    for wrong in (["--teachers", "1"], ["spacy_parser", "--teachers", "2"]):
        assert demo.main([*train, *wrong]) == 1
        assert "--teachers" in capsys.readouterr().err
    pipelines = [spacy.load(path) for path in taught]
    weights = [nlp.get_pipe("parser").to_bytes(exclude=["vocab"]) for nlp in pipelines]
    assert len(set(weights)) == 3
    plain, phrases, wide = (nlp.config for nlp in pipelines)
    levels = [config["training"]["batcher"]["level"] for config in (plain, phrases, wide)]
    assert levels == [None, 0.0, None]
    assert (plain["training"]["max_epochs"], plain["training"]["max_steps"]) == (5, 5_000)
    models = [config["components"]["parser"]["model"] for config in (plain, wide)]
    assert [model["recurrent_width"] for model in models] == [64, 128]
    assert spacy.load(folder / "model-best").pipe_names[-2:] == [
        "ud_lemmatizer",
        "multiword_tokens",
    ]


@pytest.mark.parametrize("lang", ["en", "tr", "de"])
def test_the_wheel_is_the_model_s_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not one of another language, of a version of before, or of a build of before."""
    packages, model = tmp_path / "packages", tmp_path / "model"
    for other in ("aa_x-0.1.0", "en_x-0.1.0", "tr_x-0.1.0", "zz_x-0.1.0", f"{lang}_x-0.2.0"):
        dist = packages / other / "dist"
        dist.mkdir(parents=True)
        (dist / f"{other}-py3-none-any.whl").write_bytes(b"old")
        (dist / f"{other}.post1-py3-none-any.whl").write_bytes(b"older")
    spacy.blank(lang).to_disk(model)
    commands = []

    def run(command: list[str], *rest: Any, **more: Any) -> None:
        commands.append(command)
        if "package" in command:
            dist = packages / f"{lang}_x-0.1.0" / "dist"
            dist.mkdir(parents=True)
            (dist / f"{lang}_x-0.1.0-py3-none-any.whl").write_bytes(b"new")

    monkeypatch.setattr(demo, "run", run)
    assert demo.main(["package", str(model), str(packages), "--name", "x"]) == 0
    find = f"--no-index --find-links {packages / f'{lang}_x-0.1.0' / 'dist'} {lang}_x\n"
    assert f"python -m pip install {find}" in capsys.readouterr().out
    installed = Path(commands[-1][-1])
    assert installed == packages / f"{lang}_x-0.1.0" / "dist" / f"{lang}_x-0.1.0-py3-none-any.whl"
    assert installed.read_bytes() == b"new"
    assert wheel_of(packages, lang, f"{lang}_x") == installed
    assert wheel_of(packages, lang, "x", "0.2.0").name == f"{lang}_x-0.2.0-py3-none-any.whl"
    with pytest.raises(FileNotFoundError, match="not one"):
        wheel_of(packages, "xx", "x")


def dry_run(folder: Path, *options: str) -> str:
    """What the workflow `ud` would run, as spaCy prints it."""
    for name in ("configs", "scripts", "project.yml"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    done = CliRunner().invoke(app, ["project", "run", "ud", str(folder), "--dry", *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_short_trainings_are_evaluated_more_often(tmp_path: Path) -> None:
    vocab = spacy.blank("xx").vocab
    docs = [Doc(vocab, words=["a"] * 200) for _ in range(30)]
    DocBin(docs=docs).to_disk(tmp_path / "train.spacy")
    found = [demo.eval_frequency(tmp_path / "train.spacy", epochs) for epochs in (1, 10, 1000)]
    assert found == [1, 15, 200]


def test_word_vectors(treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The parser learns with those of another pipeline, which the model card names; one without any
    is an error, before anything is trained."""
    pytest.importorskip("udtools", reason="needs the package udtools")
    convert(find_splits(treebank), tmp_path, 2)
    other = spacy.blank("xx")
    other.to_disk(tmp_path / "other")
    train = ["train", str(tmp_path), str(tmp_path / "models"), "nm_parser", "--epochs", "1"]
    train += ["--vectors", str(tmp_path / "other")]
    assert demo.main(train) == 1
    assert "no word vectors" in capsys.readouterr().err
    assert not (tmp_path / "models").exists()
    assert vectors_of(tmp_path / "other") == []
    other.vocab.set_vector("a", numpy.ones(5, dtype="float32"))
    other.meta.update(license="CC BY 4.0", url="https://example.org")
    other.to_disk(tmp_path / "other")
    assert demo.main(train) == 0
    model = tmp_path / "models" / "nm_parser" / "model-best"
    assert vectors_of(model) == [("the word vectors of other", "https://example.org", "CC-BY-4.0")]
    nlp = spacy.load(model)
    assert nlp.vocab.vectors.shape[1] == 5
    assert nlp.config["components"]["tok2vec"]["model"]["embed"]["include_static_vectors"] is True


def test_more_treebanks(treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The parser learns from them, too; their licences are on the model card. One without training
    data is an error, before anything is trained."""
    pytest.importorskip("udtools", reason="needs the package udtools")
    convert(find_splits(treebank), tmp_path / "corpus", 2)
    other = tmp_path / "UD_Toy-More"
    shutil.copytree(treebank, other)
    train = ["train", str(tmp_path / "corpus"), str(tmp_path / "models"), "nm_parser"]
    train += ["--epochs", "2", "--treebanks", str(tmp_path), "--more", "UD_Toy-More corpus"]
    assert demo.main(train) == 1
    assert "corpus" in capsys.readouterr().err and not (tmp_path / "models").exists()
    assert demo.main([*train[:-1], "UD_Toy-More"]) == 0
    nlp = spacy.load(tmp_path / "models" / "nm_parser" / "model-best")
    (embed,) = (one for one in nlp.get_pipe("tok2vec").model.walk() if "treebanks" in one.attrs)
    assert embed.attrs["treebanks"] == ["UD_Toy-More"]


def test_the_workflow_ud_runs_what_it_was_given(tmp_path: Path) -> None:
    """Each treebank has its folders, so that a second run keeps what the first one made."""
    options = ("--vars.treebanks", "some folder", "--vars.treebank", "UD_English-EWT")
    out = dry_run(tmp_path, *options, "--vars.ud_epochs", "7")
    assert "-m spacy nmparse convert 'some folder/UD_English-EWT' corpus/UD_English-EWT " in out
    assert "training/UD_English-EWT nl_covington_parser spacy_parser" in out
    assert "ud_epochs=7" in out and "'treebanks=some folder'" in out
    spaced = dry_run(tmp_path, "--vars.treebank", "UD_My Own")
    for line in re.findall("(?m)^Running command: (.*)", spaced):
        assert all("My Own" in word for word in shlex.split(line) if re.search("My|Own", word))
    assert "demo.py table 'metrics/UD_My Own' " in spaced
    assert "--epochs 7 " in out and "--vectors none --treebanks 'some folder' --more none\n" in out
    assert "Gothic" not in out
    out = dry_run(tmp_path, "--vars.baseline", "none", "--vars.wheel", "none")
    assert "-m spacy nmparse convert assets/UD_Gothic-PROIEL corpus/UD_Gothic-PROIEL " in out
    assert "spacy_parser" not in out
    assert out.count("/UD_Gothic-PROIEL nl_covington_parser none") == 3
    assert "--wheel none" in out


def test_the_workflow_ud_says_its_variables(tmp_path: Path) -> None:
    """All those that the page lists."""
    page = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8")
    first = dry_run(tmp_path).split("Running command: ")[1]
    assert "demo.py variables " in first
    listed = re.findall(r"--vars\.(\w+)", page)
    assert len(listed) > 9 and all(f"{name}=" in first for name in listed)


def test_parsers_of_whole_pipelines() -> None:
    """One that no whole pipeline can have is refused before anything is done."""
    demo.check(["swap_parser", "spacy_parser"], "whole")
    for name in ("spacy_parser", "nm_parser_transformer"):
        demo.check([name], "parser")
        with pytest.raises(ValueError, match="name another parser"):
            demo.check([name], "whole")


def interpolate(text: str, values: dict[str, Any]) -> str:
    """Put in the project's variables, as spaCy does."""
    return re.sub(r"\$\{vars\.(\w+)\}", lambda found: str(values[found[1]]), text)


def test_project_file() -> None:
    """The workflows name commands, and the commands name files that exist."""
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
            if file.startswith(("scripts/", "configs", *(f"benchmarks/{name}" for name in own))):
                assert (ROOT / file).exists(), (command["name"], file)
