"""Treebanks: their files, and `nmparse convert`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.treebanks import find_splits
from scripts import demo
from spacy_nmparse.ud.treebank import find_files
from tests.toy_treebank import CONLLU, nmparse, read


def test_convert_documents(treebank: Path, tmp_path: Path) -> None:
    """Single sentences, or several in a document, also with single ones."""
    out = tmp_path / "out"
    assert nmparse(["convert", str(treebank), str(out)]) == 0
    for split in ("train", "dev", "test"):
        docs = read(out / f"{split}.spacy")
        assert [len(doc) for doc in docs] == [3, 4, 1], split
        first, second, _ = docs
        assert [token.text for token in first] == ["do", "n't", "!"]
        assert (first.text, second.text) == ("don't! ", "A catsat on ")
        assert [token.head.i for token in second] == [3, 2, 2, 1]
        assert [token.dep_ for token in second] == ["det", "obj", "ROOT", "acl:relcl"]
        assert [token.is_sent_start for token in second] == [True, False, False, False]
    options = ["--n-sents", "2", "--with-single", "--merge-subtokens", "yes"]
    assert nmparse(["convert", f'"{treebank}"', str(out), *options]) == 0
    sizes = [[len(sent) for sent in doc.sents] for doc in read(out / "train.spacy")]
    assert sizes == [[2, 4], [1], [2]]
    assert [len(list(doc.sents)) for doc in read(out / "dev.spacy")] == [2, 1]
    assert [token.text for token in read(out / "dev.spacy")[0]][:2] == ["don't", "!"]


def test_convert_compares_tokens(
    treebank: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [str(treebank), str(tmp_path / "out"), "--lang", "en"]
    assert nmparse(["convert", *command, "--merge-subtokens", "yes"]) == 0
    merged = capsys.readouterr().out
    # do n't ! A catsat on Yes, of which don't is one token of the data, and cat and sat are two
    figure = 100 * 2 * 4 / (7 + 7)
    assert f"with --merge-subtokens yes: train {figure:.2f}, dev {figure:.2f}" in merged
    assert f"With --merge-subtokens no: dev {100 * 2 * 6 / (8 + 7):.2f}" in merged
    assert "fits better so: convert with --merge-subtokens no" in merged
    assert re.search(r"(?m)^ +3 +don't +do n't$", merged)
    assert re.search(r"(?m)^ +3 +cat sat +catsat$", merged)
    assert nmparse(["convert", *command, "--merge-subtokens", "no"]) == 0
    apart = capsys.readouterr().out
    assert "fits better" not in apart and "do n't" not in apart
    assert nmparse(["convert", *command[:-1], "nonsense"]) == 2
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
    assert nmparse(["convert", str(tmp_path / "out"), "--train", str(bad)]) == 2
    assert message in capsys.readouterr().err
    assert nmparse(["convert", str(tmp_path / "none"), str(tmp_path / "out")]) == 2
    assert "No folder" in capsys.readouterr().err


def test_find_splits_complains(treebank: Path) -> None:
    (treebank / "toy_test-ud-train-b.conllu").write_text(CONLLU, encoding="utf-8")
    with pytest.raises(ValueError, match=r"train data of .* is in parts"):
        find_splits(treebank)
    (treebank / "other-train.conllu").write_text(CONLLU, encoding="utf-8")
    with pytest.raises(ValueError, match="several treebanks"):
        find_splits(treebank)
    (treebank / "toy_test-ud-dev.conllu").unlink()
    for name in ("other-train", "toy_test-ud-train-b"):
        (treebank / f"{name}.conllu").unlink()
    with pytest.raises(FileNotFoundError, match="no dev file"):
        find_splits(treebank)


def words(path: Path) -> list[str]:
    return [token.text for doc in read(path) for token in doc]


def numbered(first: int, n: int) -> str:
    """Sentences of one word, its number."""
    return "".join(f"1\tw{i}\t_\t_\t_\t_\t0\troot\t_\t_\n\n" for i in range(first, first + n))


@pytest.fixture
def in_parts(tmp_path: Path) -> Path:
    """A treebank as German-HDT: training data in parts, here without development data."""
    folder = tmp_path / "UD_German-Parts"
    folder.mkdir()
    for i, part in enumerate(("a-1", "a-2", "b-1")):
        path = folder / f"de_parts-ud-train-{part}.conllu"
        path.write_text(numbered(100 * i, 40), encoding="utf-8")
    (folder / "de_parts-ud-test.conllu").write_text(numbered(900, 3), encoding="utf-8")
    return folder


def test_parts_are_joined(in_parts: Path, tmp_path: Path) -> None:
    (in_parts / "._de_parts-ud-train-a-1.conllu").write_text("no data", encoding="utf-8")
    dev = in_parts / "de_parts-ud-dev.conllu"
    dev.write_text(numbered(800, 4), encoding="utf-8")
    assert [len(find_files(in_parts)[split]) for split in ("train", "dev", "test")] == [3, 1, 1]
    out = tmp_path / "out"
    assert nmparse(["convert", str(in_parts), str(out), "--n-sents", "10"]) == 0
    assert words(out / "train.spacy") == [f"w{i + 100 * p}" for p in range(3) for i in range(40)]
    assert [len(doc) for doc in read(out / "train.spacy")] == [10] * 12
    assert words(out / "dev.spacy") == ["w800", "w801", "w802", "w803"]


@pytest.mark.parametrize(("n_sents", "held_out"), [(1, range(9, 120, 10)), (10, range(90, 100))])
def test_without_a_dev_file_some_training_documents_are_held_out(
    in_parts: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    n_sents: int,
    held_out: range,
) -> None:
    """Where test data come alone, what another treebank left stays, and nothing is written."""
    everything = [f"w{i + 100 * part}" for part in range(3) for i in range(40)]
    out = tmp_path / "out"
    options = ["--n-sents", str(n_sents), "--with-single"]
    assert nmparse(["convert", str(in_parts), str(out), *options]) == 0
    dev, train = words(out / "dev.spacy"), words(out / "train.spacy")
    assert dev == [everything[i] for i in held_out]
    assert set(train) == set(everything) - set(dev)
    assert len(train) == (110 + 11 if n_sents > 1 else 108)  # each tenth once more, alone
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "held out" in line]
    assert "every tenth training document" in line and "dev.spacy" in line
    for path in in_parts.glob("*train*"):
        path.unlink()
    before = {path: path.read_bytes() for path in out.iterdir()}
    assert nmparse(["convert", str(in_parts), str(out)]) == 2
    said = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert "train.spacy and" in said and "dev.spacy, which" in said and "another OUTPUT" in said
    assert {path: path.read_bytes() for path in out.iterdir()} == before and len(before) == 3
    (out / "train.spacy").unlink()
    (out / "dev.spacy").unlink()
    for _ in range(2):
        assert nmparse(["convert", str(in_parts), str(out)]) == 0


def test_messages_name_options_that_there_are(
    in_parts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert nmparse(["convert", str(empty), str(tmp_path / "out")]) == 2
    assert demo.main(["evaluate", str(empty), str(empty), str(empty), "--treebank", str(empty)])
    for path in in_parts.glob("*.conllu"):
        path.unlink()
    (in_parts / "train.conllu").write_text(numbered(0, 3), encoding="utf-8")
    assert nmparse(["convert", str(in_parts), str(tmp_path / "out"), "--n-sents", "3"]) == 2
    said = capsys.readouterr().err
    assert "No file *train.conllu" in said and "too few to hold some out" in said
    assert "--" not in said
