"""scripts/parse_corpus.py: every document once, whatever happens on the way."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin

from scripts import parse_corpus
from tests.pipe.common import WORDS as COMMON_WORDS
from tests.pipe.common import tree

WORDS = [*COMMON_WORDS, "ünïcode"]


def make_texts(n: int, seed: int = 0) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, 25))) for _ in range(n)]


@pytest.fixture(scope="module")
def model(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model")
    trained.to_disk(path)
    return str(path)


@pytest.fixture
def texts(tmp_path: Path) -> list[Path]:
    """Two text files, one of them with blank lines and without a line end at its end."""
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    paths[0].write_text("\n".join([*make_texts(40), "", "  ", *make_texts(9, 1)]), "utf8")
    paths[1].write_bytes("\r\n".join([*make_texts(30, 2), ""]).encode())
    return paths


def expected(nlp: Language, paths: Iterable[Path]) -> list[tuple[str, str, Any]]:
    """(file, text, tree) of each document, by nlp.pipe."""
    lines = [
        (str(path), line)
        for path in paths
        for line in path.read_text("utf8").splitlines()
        if line.strip()
    ]
    docs = nlp.pipe([line for _, line in lines])
    return [(source, text, tree(doc)) for (source, text), doc in zip(lines, docs, strict=True)]


def found(nlp: Language, output: Path) -> list[tuple[str, str, Any]]:
    """The same, from the shards, in their order."""
    result = []
    for path in sorted(output.glob("*/part-*.spacy")):
        for doc in DocBin(store_user_data=True).from_disk(path).get_docs(nlp.vocab):
            result.append((doc.user_data["source"], doc.text, tree(doc)))
    return result


def run(model: str, output: Path, inputs: list[Path], *more: str) -> int:
    arguments = [model, str(output), *map(str, inputs), "--format", "docbin"]
    return parse_corpus.main([*arguments, "--shard-mb", "0.0007", "--batch-size", "7", *more])


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000, 10**6])
def test_pieces_hold_each_line_once(tmp_path: Path, size: int) -> None:
    for content in (b"", b"a", b"a\n", b"\n\n", b"one\ntwo\n\nthree", "ä\nö\r\nüß\n".encode()):
        path = tmp_path / "text.txt"
        path.write_bytes(content)
        other = tmp_path / "other.txt"
        other.write_bytes(b"last")
        inputs = [
            {"path": str(one), "bytes": one.stat().st_size, "cuts": None} for one in (path, other)
        ]
        pieces = parse_corpus.Pieces({"inputs": inputs, "size": size})
        lines = [
            line
            for number in range(len(pieces))
            for _, line in parse_corpus.read_texts(pieces[number], "text")
        ]
        assert lines == [line for line in content.decode().splitlines() if line.strip()] + ["last"]


def test_every_document_once(
    model: str, trained: Language, texts: list[Path], tmp_path: Path
) -> None:
    assert run(model, tmp_path / "out", texts) == 0
    assert len(list((tmp_path / "out").glob("*/part-*.spacy"))) > 5
    assert found(trained, tmp_path / "out") == expected(trained, texts)


def test_going_on(
    model: str,
    trained: Language,
    texts: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed between any two steps: the same documents in the end, finished shards not touched."""
    out = tmp_path / "out"
    parse = parse_corpus.ShardParser.__call__
    calls = []

    def dies(self: Any, item: dict[str, Any]) -> Any:
        calls.append(item["number"])
        if len(calls) == 4:
            raise KeyboardInterrupt
        return parse(self, item)

    monkeypatch.setattr(parse_corpus.ShardParser, "__call__", dies)
    with pytest.raises(KeyboardInterrupt):
        run(model, out, texts)
    shards = out / "0000"
    finished = {path: path.read_bytes() for path in shards.glob("part-*")}
    assert len(finished) == 3 and calls == [0, 1, 2, 3]
    # Killed: while it wrote a shard; a record, before its shard; the shard is cut short.
    (shards / "part-000004.spacy.abc.new").write_bytes(b"half")
    (records,) = out.glob("records/*.jsonl")
    lines = records.read_text().splitlines()
    records.write_text("\n".join([lines[0], lines[2], lines[1][:20]]))
    (shards / "part-000002.spacy").write_bytes(b"half")
    # Files of others stay.
    others = (shards / ".nfs1", out / "notes" / "part-000001.new")
    for other in others:
        other.parent.mkdir(exist_ok=True)
        other.write_text("")
    calls[:] = [None] * 9
    assert run(model, out, texts) == 0
    assert calls[9:12] == [1, 2, 3]
    assert {path: path.read_bytes() for path in finished} == finished
    assert not list(shards.glob("*.new")) and all(other.exists() for other in others)
    assert found(trained, out) == expected(trained, texts)
    calls.clear()
    assert run(model, out, texts) == 0
    assert calls == []


def test_a_worker_dies_behind_its_shard(
    model: str, trained: Language, texts: list[Path], tmp_path: Path
) -> None:
    """The worker that takes over leaves the shard, and all is counted in the end."""
    out = tmp_path / "out"
    settings = parse_corpus.prepare(model, out, texts, size=500, kind="docbin", batch_size=7)
    parse_corpus.ShardParser(model, str(out), settings)({"number": 1})
    before = parse_corpus.shard_path(out, 1, "docbin").stat().st_mtime_ns
    for record in parse_corpus.run_here(model, out, settings, [0, 1]):
        assert bool(record["documents"]) == (record["number"] == 0)
    assert parse_corpus.shard_path(out, 1, "docbin").stat().st_mtime_ns == before
    done, totals = parse_corpus.look_through(out, settings)
    assert list(done[:3]) == [1, 1, 0]
    docs = found(trained, out)
    assert totals["documents"] == len(docs) > 7


def test_another_run(
    model: str, texts: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    out = tmp_path / "out"
    assert run(model, out, texts[:1]) == 0
    for inputs, more, word in (
        (texts, (), "inputs"),
        (texts[:1], ("--batch-size", "8"), "batch_size"),
        ([*texts, tmp_path / "no.txt"], (), "no.txt"),
    ):
        assert run(model, out, inputs, *more) == 1
        assert word in capsys.readouterr().err
    (out / "manifest.json").unlink()
    assert run(model, out, texts[:1]) == 1
    assert "manifest.json" in capsys.readouterr().err


def test_documents_that_fail(
    model: str, texts: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are there, without a parse, with the error; the others are parsed."""
    load_model = spacy.load

    def load_picky(path: str) -> Language:
        nlp = load_model(path)
        nlp.max_length = 100
        parser = nlp.get_pipe("nm_parser")
        predict = parser.predict

        def fails(docs: Any) -> Any:
            if any("London London" in doc.text for doc in docs):
                raise RuntimeError("no more London")
            return predict(docs)

        parser.predict = fails
        return nlp

    monkeypatch.setattr(spacy, "load", load_picky)
    path = tmp_path / "bad.txt"
    path.write_text("Yes\nI like London London\n" + "cat " * 40 + "\nSleep !\n")
    assert run(model, tmp_path / "out", [path]) == 0
    (shard,) = (tmp_path / "out").glob("*/part-*.spacy")
    docs = list(DocBin(store_user_data=True).from_disk(shard).get_docs(spacy.blank("xx").vocab))
    assert [doc.has_annotation("DEP") for doc in docs if len(doc)] == [True, False, True]
    errors = [doc.user_data["error"] for doc in docs]
    assert errors[0] is errors[3] is None
    assert "no more London" in errors[1] and "E088" in errors[2]
    (records,) = (tmp_path / "out").glob("records/*.jsonl")
    record = json.loads(records.read_text())
    assert (record["documents"], record["errors"]) == (4, 2)


def test_parquet(model: str, trained: Language, tmp_path: Path, texts: list[Path]) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow (the extra ray)")
    from pyarrow import parquet

    lines = make_texts(50)
    source = tmp_path / "in.parquet"
    table = pyarrow.table({"id": list(range(50)), "body": lines})
    parquet.write_table(table, source, row_group_size=8)
    out = tmp_path / "out"
    arguments = [model, str(out), str(source), "--shard-mb", "0.0005"]
    assert parse_corpus.main(arguments) == 1  # no column "text"
    out = tmp_path / "out2"
    assert parse_corpus.main([model, str(out), *arguments[2:], "--text", "body"]) == 0
    shards = sorted(out.glob("*/part-*.parquet"))
    assert len(shards) > 3
    rows = [row for shard in shards for row in parquet.read_table(shard).to_pylist()]
    assert [row["position"] for row in rows] == list(range(50))
    for row, doc in zip(rows, trained.pipe(lines), strict=True):
        columns = zip(row["words"], row["heads"], row["deps"], row["sent_starts"], strict=True)
        assert list(columns) == tree(doc)
        assert row["error"] is None


def test_ray(model: str, trained: Language, tmp_path: Path, texts: list[Path]) -> None:
    pytest.importorskip("ray", reason="needs Ray (the extra ray)")
    script = parse_corpus.__file__
    command = [sys.executable, script, model, str(tmp_path / "out"), *map(str, texts)]
    command += ["--format", "docbin", "--shard-mb", "0.0015", "--workers", "2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert found(trained, tmp_path / "out") == expected(trained, texts)
