"""The programs in examples/ do what their texts say."""

from __future__ import annotations

import os
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import DocBin

from spacy_nmparse.pipe.calibration import Calibration
from spacy_nmparse.pipe.parser import TransitionParser
from spacy_nmparse.systems.projective import is_projective
from tests.pipe.common import TREES, gold_doc
from tests.test_cli import CONLLU

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
Output = pytest.CaptureFixture[str]


def load(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def main_of(name: str) -> Callable[..., None]:
    return load(name)["main"]  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def model(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples") / "model"
    trained.to_disk(folder)
    return folder


def test_every_example_is_tested() -> None:
    tests = Path(__file__).read_text(encoding="utf-8")
    assert all(f'("{path.stem}")' in tests for path in EXAMPLES.glob("*.py"))


def test_step_by_step(capsys: Output) -> None:
    example = load("step_by_step")
    example["repair"]()
    lines = capsys.readouterr().out.splitlines()
    assert "    RIGHT-ARC obj, least loss 0" in lines
    at = next(i for i, line in enumerate(lines) if line.startswith(" 9"))
    assert lines[at].startswith(" 9  [saw Jack] [fall ROOT]  LEFT-ARC 0, ")
    assert lines[-2].startswith("the gold tree: True")
    example["crossing"]()
    wrong = [line.split(", ")[1] for line in capsys.readouterr().out.splitlines()]
    assert wrong == ["1 wrong heads", *["0 wrong heads"] * 3]


def test_train_treebank(tmp_path: Path, capsys: Output) -> None:
    corpus = tmp_path / "toy.conllu"
    # without the arc that crosses another: a projective parser can learn all of it
    corpus.write_text(CONLLU.replace("4\tobj", "2\tobj"), encoding="utf-8")
    folder = tmp_path / "out"
    arguments = [str(corpus), str(corpus), str(folder), "--lang", "en", "--epochs", "80"]
    main_of("train_treebank")(arguments)
    scores = dict(line.split() for line in capsys.readouterr().out.splitlines()[-5:])
    assert float(scores["dep_uas"]) == 100, scores
    assert (folder / "model-best" / "parser").is_dir()


def test_confidence(model: Path, tmp_path: Path, trained: Language, capsys: Output) -> None:
    gold = tmp_path / "gold.spacy"
    DocBin(docs=[gold_doc(trained.vocab, [0]), gold_doc(trained.vocab, [1])]).to_disk(gold)
    text = TREES[0][0]
    main_of("confidence")([str(model), text, "--width", "4", "--gold", str(gold), "--trees", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["head", "label"]
    words = [line.split() for line in lines[3:8]]
    assert [word[:3] for word in words][:2] == [["She", "saw", "nsubj"], ["saw", "saw", "ROOT"]]
    assert all(0 < float(both) <= float(head) <= 1 for *_, head, both in words)
    trees = [line.split("  ", 1) for line in lines[8:]]
    assert 1 <= len(trees) <= 2
    assert "She→saw nsubj, saw→saw ROOT" in trees[0][1]
    scores = [float(score) for score, _ in trees]
    assert scores == sorted(scores, reverse=True)


def test_confidence_of_conllu(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    """A calibration that makes it worse is said."""
    gold = tmp_path / "gold.conllu"
    gold.write_text(CONLLU, encoding="utf-8")
    arguments = [str(model), TREES[0][0], "--gold", str(gold)]
    main_of("confidence")(arguments)
    assert capsys.readouterr().out.startswith("head: calibration error ")
    found = {"head": Calibration(2.0, 0.1, 0.2), "label": Calibration(2.0, 0.2, 0.1)}
    monkeypatch.setattr(TransitionParser, "calibrate", lambda parser, examples: found)
    main_of("confidence")(arguments)
    lines = capsys.readouterr().out.splitlines()
    assert [line.startswith("It got larger") for line in lines[:3]] == [False, True, False]


def test_crossing_arcs(capsys: Output) -> None:
    main_of("crossing_arcs")([])
    output = capsys.readouterr().out
    assert "sentences: ['A hearing is scheduled on the issue today', 'She left']" in output
    assert "crossing arcs: ['hearing → on']" in output
    assert "below hearing: ['A', 'hearing', 'on', 'the', 'issue']" in output
    assert "the same after from_bytes: True" in output
    assert "She.is_sent_start = None: [8, 2]" in output
    assert "She.is_sent_start = False: [10]" in output
    assert "today.is_sent_start = True: [7, " in output


def test_figures(capsys: Output) -> None:
    example = load("garden_paths")
    example["main"]([])
    parts = capsys.readouterr().out.strip().split("\n\n")
    assert len(parts) == len(example["figures"]()) == 6
    assert parts[0].endswith("[saw Jack] [fall ROOT]  - saw –→ Jack  + fall –→ Jack")
    assert parts[1].endswith("REDUCE     [saw Jack] [ROOT]  + saw –→ Jack")
    moves = [sum(" cost " in line for line in part.splitlines()) for part in parts[2:]]
    assert moves[:2] == [12, 9]  # FG18, Figures 3 and 4
    swaps = [part.count("SWAP ") for part in parts[4:]]
    assert swaps == [2, 1]  # BN15, sections 2 and 3


def test_lectures(tmp_path: Path, capsys: Output) -> None:
    main_of("lectures")(["--dot", str(tmp_path / "dot")])
    parts = capsys.readouterr().out.strip().split("\n\n")
    assert [len(part.splitlines()) for part in parts[:3]] == [1 + 9, 1 + 10, 1 + 9 + 1]
    assert parts[0].splitlines()[-1].endswith("[ROOT] [like]  + ROOT –→ like")
    assert parts[2].splitlines()[4].startswith("4  RIGHT-ARC  cost 1")
    assert parts[2].splitlines()[5] == "   lost: bagels –→ lox"
    assert [part.splitlines()[0] for part in parts[3:]] == [
        "figure-2: 2 derivations",
        "figure-4: 9 derivations",
    ]
    assert len(list((tmp_path / "dot").glob("*.dot"))) == 2


def test_the_trees_of_the_garden_paths() -> None:
    example = load("garden_paths")
    for source, text, numbers in example["SENTENCES"]:
        heads = example["heads_of"](numbers)
        assert len(heads) == len(text.split())
        assert sum(head == word for word, head in enumerate(heads)) == 1
        assert is_projective(heads) == (source != "crossing arcs"), text


def test_garden_paths(model: Path, tmp_path: Path, capsys: Output) -> None:
    example = load("garden_paths")
    pages = tmp_path / "pages"
    example["main"]([str(model), "--html", str(pages)])
    output = capsys.readouterr().out
    assert output.count("other heads than expected: ") == len(example["SENTENCES"])
    assert len(list(pages.glob("*.html"))) == len(example["SENTENCES"])


def test_ray_corpus(model: Path, tmp_path: Path) -> None:
    """One actor is killed, and nothing is lost; a text that fails has its error."""
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table
    example = load("ray_corpus")
    failing, died = "no text", tmp_path / "died"

    class Dying(example["Parse"]):  # type: ignore[misc]
        def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
            try:
                died.touch(exist_ok=False)
            except FileExistsError:
                return super().__call__(batch)  # type: ignore[no-any-return]
            os._exit(1)

        def __init__(self, *arguments: str) -> None:
            super().__init__(*arguments)
            make_doc = self.nlp.make_doc
            self.nlp.make_doc = lambda text: make_doc(None if text == failing else text)

    example["main"].__globals__["Parse"] = Dying
    texts = [*[text for text, _, _ in TREES] * 5, failing]
    parquet.write_table(
        table({"n": list(range(len(texts))), "text": texts}), tmp_path / "in.parquet"
    )
    command = [str(model), str(tmp_path / "in.parquet"), str(tmp_path / "out"), "--batch", "3"]
    try:
        example["main"](command)
    finally:
        ray.shutdown()
    rows = sorted(parquet.read_table(tmp_path / "out").to_pylist(), key=lambda row: row["n"])
    assert died.exists() and [row["text"] for row in rows] == texts
    assert all("\troot\t" in row["conllu"] and not row["error"] for row in rows[:-1])
    assert not rows[-1]["conllu"] and "NoneType" in rows[-1]["error"]


def test_service(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    testclient = pytest.importorskip("fastapi.testclient", reason="needs the extra service")
    monkeypatch.setenv("MODEL", str(model))
    client = testclient.TestClient(load("service")["app"])
    text = TREES[0][0]
    done = client.post("/parse", json={"texts": [text, ""]})
    parsed, empty = done.json()
    assert [word["text"] for word in parsed["words"]] == text.split()
    assert parsed["words"][1] == {**parsed["words"][1], "head": 1, "dep": "ROOT", "start": 4}
    assert parsed["sentences"] == [0] and empty == {"words": [], "sentences": []}
    for wrong in ({"texts": ["a" * 100_001]}, {"texts": [""] * 101}, {"texts": text}, {}):
        assert client.post("/parse", json=wrong).status_code == 422
