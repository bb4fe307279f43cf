"""``nmparse parse``: files in, files out, and what may go wrong."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import re
import shutil
import sys
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import spacy
from click.testing import Result
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_nmparse.cli.parse import run as run_parse
from spacy_nmparse.pipe import processes
from spacy_nmparse.pipe.processes import ProcessDied
from spacy_nmparse.ud import FileParser, FileReader, FileWriter, plain_text
from spacy_nmparse.ud.conllu_docs import conllu_to_docs
from spacy_nmparse.ud.docs_conllu import doc_to_conllu
from spacy_nmparse.ud.jobs import RECORD, Asked, Job, note, plan, read_record
from spacy_nmparse.ud.parse_files import parse_file, parse_files
from spacy_nmparse.ud.parse_inputs import Piece
from spacy_nmparse.ud.parse_outputs import Counts, Part
from spacy_nmparse.ud.plain_text import text_items
from tests.commands import run as run_command
from tests.pipe.common import TREES, gold_doc
from tests.pipe.test_processes import Deadly
from tests.ud.test_round_trip import restored
from tests.validator import format_errors

TEXT = "She saw the cat .\nYes\n \nSleep  !\n"
LATIN = b"ok\nd\xe9j\xe0 vu\n"


def run(*arguments: str | Path, **options: Any) -> Result:
    return run_command("parse", *arguments, **options)


@pytest.fixture(scope="module")
def model(trained: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parse") / "model"
    trained.to_disk(folder)
    old = 1_000_000_000
    for path in (folder / "meta.json", folder / "config.cfg"):
        os.utime(path, (old, old))
    return folder


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def words(conllu: str) -> list[str]:
    return [line.split("\t")[1] for line in conllu.split("\n") if line[:1].isdigit()]


def test_text(model: Path, tmp_path: Path) -> None:
    source = write(tmp_path / "my text.txt", "\ufeff" + TEXT)
    done = run(model, source, "-o", tmp_path / "out.conllu")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "out.conllu").read_text(encoding="utf-8")
    assert words(text) == TEXT.split()
    assert text.startswith("# newdoc id = my_text\n# sent_id = 1\n# text = She saw the cat .\n")
    assert text.count("# newpar") == 1
    assert "# newpar\n# sent_id = 3\n# text = Sleep !\n" in text
    assert "1\tSleep\t_\t_\t_\t_\t0\troot\t_\tSpacesAfter=\\s\\s\n" in text
    assert format_errors(text, level=1) == []
    trees = [line.split("\t")[6:8] for line in text.split("\n") if line[:1].isdigit()]
    heads, labels = TREES[0][1:]
    assert [int(head) for head, _ in trees[:5]] == [
        0 if head == i else head + 1 for i, head in enumerate(heads)
    ]
    assert [label for _, label in trees[:5]] == labels.replace("ROOT", "root").split()


def test_conllu_keeps_what_it_says(model: Path, tmp_path: Path) -> None:
    conllu = (
        "# newdoc id = d\n# sent_id = x\n# speaker = A\n# text = She saw thecat.\n"
        "1\tShe\tshe\tPRON\tPRP\tCase=Nom\t_\t_\t_\tGloss=y\n"
        "2\tsaw\tsee\tVERB\tVBD\t_\t_\t_\t_\t_\n"
        "3-4\tthecat\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
        "3\tthe\tthe\tDET\tDT\t_\t_\t_\t_\t_\n"
        "4\tcat\tcat\tNOUN\tNN\t_\t_\t_\t_\t_\n"
        "5\t.\t.\tPUNCT\t.\t_\t_\t_\t_\t_\n\n"
        "# sent_id = y\n# text = Yes\n"
        "1\tYes\tyes\tINTJ\tUH\t_\t_\t_\t_\t_\n\n"
    )
    source = write(tmp_path / "in" / "a.conllu", conllu)
    done = run(model, source, "-o", f"{tmp_path}/out/")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "out" / "a.conllu").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.split("\n")]
    without = [[*row[:6], "_", "_", *row[8:]] for row in rows]
    assert [row for row in without if len(row) == 10] == [
        row for row in (line.split("\t") for line in conllu.split("\n")) if len(row) == 10
    ]
    assert [row for row in rows if len(row) == 1] == [
        [line] for line in conllu.split("\n") if "\t" not in line
    ]
    assert [row[6] for row in rows if len(row) == 10] == ["2", "0", "_", "4", "2", "2", "0"]
    assert format_errors(text) == []


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(("form", "n_process"), [("conllu", 1), ("conllu", 2), ("spacy", 1)])
def test_heads_are_kept(model: Path, tmp_path: Path, form: str, n_process: int) -> None:
    rows = [
        ["1\tShe", "4\tdiscourse"],
        ["2\tsaw", "_\t_"],
        ["3\tthe", "0\troot"],
        ["4\tcat", "_\t_"],
    ]
    text = "".join("\t".join([row, *"____", arc, "_", "_"]) + "\n" for row, arc in rows) + "\n"
    source = write(tmp_path / "a.conllu", text * 40)
    nlp = spacy.load(model)
    if form == "spacy":
        source = tmp_path / "a.spacy"
        docs = conllu_to_docs(tmp_path / "a.conllu", nlp.vocab, n_sents=3)
        DocBin(docs=docs, store_user_data=True).to_disk(source)
    target = tmp_path / "out.conllu"
    plain = run(model, source, "-o", target)
    assert "40 sentences" in plain.stderr and "discourse" not in target.read_text(encoding="utf-8")
    done = run(model, source, "-o", target, "--keep-heads", "--n-process", n_process)
    assert "40 sentences" in done.stderr  # it was not there already
    out = [line.split("\t") for line in target.read_text(encoding="utf-8").split("\n")]
    arcs = [row[6:8] for row in out if len(row) == 10]
    assert arcs[::4] == [["4", "discourse"]] * 40 and arcs[2::4] == [["0", "root"]] * 40
    assert all(head not in ("_", "0") for head, _ in arcs[1::4] + arcs[3::4])


def sentence(*rows: str, sent_id: str = "") -> str:
    """CoNLL-U of words: FORM, HEAD, DEPREL and MISC of each."""
    lines = [
        "\t".join([str(number), form, *"____", head, label, "_", misc])
        for number, (form, head, label, misc) in enumerate(map(str.split, rows), start=1)
    ]
    return f"# sent_id = {sent_id}\n" * bool(sent_id) + "\n".join(lines) + "\n\n"


def marks(path: Path) -> list[tuple[str, str, str]]:
    """FORM, HEAD and MISC of each word."""
    text = path.read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.split("\n") if line[:1].isdigit()]
    return [(row[1], row[6], row[9]) for row in rows]


@pytest.mark.parametrize("form", ["conllu", "spacy"])
def test_known_heads_are_marked(model: Path, tmp_path: Path, form: str) -> None:
    """Where a file has marks, only marked words keep their heads; plain parsing keeps no mark."""
    first, out = write(tmp_path / "a.conllu", ""), tmp_path / f"out.{form}"

    def parsed(*options: str) -> list[tuple[str, str, str]]:
        done = run(model, first, "-o", out, "--force", *options)
        assert done.exit_code == 0, done.output
        if form == "spacy":  # and once more, from there
            done = run(model, out, "-o", tmp_path / "again.conllu", "--force", *options)
            assert done.exit_code == 0, done.output
            return marks(tmp_path / "again.conllu")
        return marks(out)

    write(first, sentence("She 4 obj _", "saw _ _ a=b", "the 4 det c=d", "cat _ _ _"))
    known = "KnownHead=Yes"
    (_, head, misc), saw, the, cat = parsed("--keep-heads")
    assert (head, misc, the) == ("4", known, ("the", "4", f"c=d|{known}"))
    assert saw[1] not in ("_", "4") or (cat[1] != "2" and saw[2] == "a=b" and cat[2] == "_")
    done = run(model, first, "-o", tmp_path / "out.jsonl", "--keep-heads")
    (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [token.get("known_head") for token in json.loads(line)["tokens"]] == [1, None, 1, None]
    assert done.exit_code == 0
    confirmed = "Confirmed=Yes"
    rows = ["She 4 obj _", f"saw 0 root x=y|{confirmed}", f"the 4 det {known}", f"cat _ _ {known}"]
    write(first, sentence(*rows))
    assert [misc for *_, misc in parsed()] == ["_", "x=y", "_", "_"]
    she, saw, the, cat = parsed("--keep-heads")
    assert (saw, the) == (("saw", "0", f"x=y|{confirmed}"), ("the", "4", known))
    assert (she[2], cat[2]) == ("_", "_") and cat[1] != "_"
    plain = tmp_path / "plain.conllu"
    write(first, sentence(*rows) + sentence("Sleep 2 obj _", "! 0 root _"))
    assert run(model, first, "-o", plain).exit_code == 0
    assert marks(plain)[4][1:] == parsed("--keep-heads")[4][1:]  # marks are the file's


def test_heads_that_cannot_be_kept(model: Path, tmp_path: Path) -> None:
    """The line and the id are named; nothing but the sentence stays without a parse."""
    good = sentence("She 2 nsubj _", "saw _ _ _")
    roots = sentence("Sleep 0 root _", "! 0 root _", sent_id="two roots")
    cycle = sentence("the 2 det _", "cat 1 obj _", "! _ _ _", sent_id="cycle")
    source, target = tmp_path / "a.conllu", tmp_path / "out.conllu"
    for bad, where in ((roots, "two roots"), (cycle, "cycle")):
        write(source, good * 30 + bad + good * 40)
        done = run(model, source, "-o", target, "--keep-heads")
        assert f"{source}, line 92 (sent_id = {where}): The head of " in done.stderr
        assert done.exit_code == 1 and not target.exists()
        done = run(model, source, "-o", target, "--keep-heads", "--keep-going", "--force")
        assert done.exit_code == 0
        text = target.read_text(encoding="utf-8")
        assert text.count("# parse_error = ValueError: The head of ") == 1
        found = marks(target)
        n_bad = bad.count("\n") - 2
        assert [head for _, head, _ in found[60 : 60 + n_bad]] == [
            line.split("\t")[6] for line in bad.splitlines()[1 : 1 + n_bad]
        ]
        others = found[:60] + found[60 + n_bad :]
        assert {head for _, head, _ in others[::2]} == {"2"}
        assert {head for _, head, _ in others[1::2]} == {"0"}
        whole = tmp_path / "out.jsonl"
        write(source, "# newdoc\n" + good * 30 + bad + good * 40)
        assert run(model, source, "-o", whole, "--keep-heads", "--keep-going").exit_code == 0
        (line,) = whole.read_text(encoding="utf-8").splitlines()
        assert len(json.loads(line)["tokens"]) == 140 + n_bad
        whole.unlink()
        target.unlink()
    nlp = spacy.load(model)
    roots = sentence("Sleep 0 root _", "! 0 root _", "cat _ _ _")
    docs = conllu_to_docs(write(source, good + roots), nlp.vocab, n_sents=1)
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "a.spacy")
    done = run(model, tmp_path / "a.spacy", "-o", target, "--keep-heads")
    assert "a.spacy, document 2: The head of '!'" in done.stderr


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("n_process", [1, 2])
def test_texts_of_other_words(model: Path, tmp_path: Path, n_process: int) -> None:
    """They are written anew, with one warning a file."""
    row = "1\tYes" + "\t_" * 8 + "\n\n"
    same, other = f"# text = Yes\n{row}", f"# text = No\n{row}"
    source = write(tmp_path / "a.conllu", same * 20 + other + same * 20 + other)
    done = run(model, source, "--n-process", n_process)
    message = (
        f"{source}, line 62: # text is not that of the words; it is written anew (2 sentences)"
    )
    assert done.stderr.count("# text") == 1 and f"Warning: {message}.\n" in done.stderr
    assert done.stdout.count("# text = Yes\n") == 42
    assert "# text" not in run(model, source, "-f", "json").stderr


def test_every_format_in_and_out(model: Path, tmp_path: Path) -> None:
    """Text to .spacy to JSON and CoNLL-U: the trees stay."""
    source = write(tmp_path / "a.txt", TEXT)
    for target in ("a.conllu", "a.spacy", "a.jsonl"):
        assert run(model, source, "-o", tmp_path / target).exit_code == 0
    nlp = spacy.load(model)
    docs = list(DocBin().from_disk(tmp_path / "a.spacy").get_docs(nlp.vocab))
    again = run(model, tmp_path / "a.spacy")
    assert again.stdout == (tmp_path / "a.conllu").read_text(encoding="utf-8")
    lines = (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    loaded = [json.loads(line) for line in lines]
    assert [one["text"] for one in loaded] == [doc.text for doc in docs]
    assert [[t["head"] for t in one["tokens"]] for one in loaded] == [
        [token.head.i for token in doc] for doc in docs
    ]


@pytest.mark.parametrize("form", ["conllu", "json"])
def test_confidences(model: Path, tmp_path: Path, form: str) -> None:
    source = write(tmp_path / "a.txt", TEXT)
    out = run(model, source, "--confidence", "--format", form).stdout
    name = "head_confidence" if form == "json" else "HeadConfidence"
    assert out.count(name) == len(TEXT.split())


def test_standard_input_and_output(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(model, "-", input=TEXT)
    assert done.exit_code == 0
    assert words(done.stdout) == TEXT.split() and "# newdoc id = stdin" in done.stdout
    first = run(model, "-", "--input-format", "conllu", input=done.stdout)
    assert words(first.stdout) == TEXT.split()
    for arguments in (["-f", "spacy"], ["--input-format", "spacy"], ["-f", "xml"]):
        assert run(model, "-", *arguments).exit_code == 2


def test_conllu_is_no_text(model: Path, tmp_path: Path) -> None:
    """Unless it is named so, where it comes without a name that tells."""
    conllu = "# text = Yes\n1\tYes" + "\t_" * 8 + "\n\n"
    message = " looks like CoNLL-U: --input-format conllu (text, if it is none)."
    for given in (write(tmp_path / "m.conllu.txt", "\ufeff" + conllu[13:]), "-"):
        done = run(model, given, input=conllu)
        name = "standard input" if given == "-" else str(given)
        assert done.exit_code == 1 and name + message in done.stderr
        assert words(run(model, given, "--input-format", "conllu", input=conllu).stdout) == ["Yes"]
        assert len(words(run(model, given, "--input-format", "text", input=conllu).stdout)) > 1


PLUS_ROWS = """\
# global.columns = HEAD ID FORM UPOS PARSEME:MWE MISC
# sent_id = a
_\t1\tYes\tINTJ\t1:VID\tx=y

# newdoc
_\t1-2\tdont\t_\t*\t_
_\t1\tdo\tAUX\t*\t_
_\t2\tnt\tPART\t1\tSpaceAfter=No

"""


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("n_process", [1, 2])
def test_conllu_plus(model: Path, tmp_path: Path, n_process: int) -> None:
    """Its other columns stay, behind the ten of CoNLL-U."""
    folder = tmp_path / "in"
    text = PLUS_ROWS + PLUS_ROWS[PLUS_ROWS.index("# sent_id") :] * 5
    source = write(folder / "a.conllup", "\ufeff" + text)
    done = run(model, folder, "-o", tmp_path / "out", "--n-process", n_process)
    assert done.exit_code == 0, done.output
    found = (tmp_path / "out" / "a.conllup").read_text(encoding="utf-8")
    names = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE"
    assert found.startswith(f"# global.columns = {names}\n# sent_id = a\n# text = Yes\n1\tYes")
    rows = [row for row in table(found) if len(row) > 1]
    assert [row[0:2] + row[3:4] + row[9:] for row in rows] == 6 * [
        ["1", "Yes", "INTJ", "x=y", "1:VID"],
        ["1-2", "dont", "_", "_", "*"],
        ["1", "do", "AUX", "_", "*"],
        ["2", "nt", "PART", "SpaceAfter=No", "1"],
    ]
    assert {row[6] for row in rows if row[0] == "1" and row[1] == "Yes"} == {"0"}
    again = tmp_path / "again.conllup"
    assert run(model, tmp_path / "out" / "a.conllup", "-o", again).exit_code == 0
    assert run(model, source, "-o", tmp_path / "a.spacy").exit_code == 0
    for other in (again.read_text(encoding="utf-8"), run(model, tmp_path / "a.spacy").stdout):
        assert [(row[:6], row[8:]) for row in table(other)] == [
            (row[:6], row[8:]) for row in table(found)
        ]
    (first, _, *_) = conllu_to_docs(source, spacy.blank("xx").vocab)
    assert doc_to_conllu(first).startswith(f"# global.columns = {names[:-12]}\n# sent_id = a\n")
    for wrong in ("ID FORM FORM", "FORM"):
        write(source, PLUS_ROWS.replace("HEAD ID FORM", wrong))
        done = run(model, source)
        assert done.exit_code == 1 and f"{source}, line 1: # global.columns" in done.stderr


def table(conllu: str) -> list[list[str]]:
    return [line.split("\t") for line in conllu.splitlines()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PLUS_ROWS, "looks like CoNLL-U Plus: --input-format conllu"),
        ("1\tYes" + "\t_" * 12, "a table of words, but not like CoNLL-U"),
        ("1 Yes _ INTJ _ _ 0 root _ _", "a table of words, but not like CoNLL-U"),
        ("1   Yes  _ INTJ  _  0  root  _ ", "a table of words, but not like CoNLL-U"),
    ],
)
def test_tables_are_no_text(model: Path, tmp_path: Path, text: str, message: str) -> None:
    for given in (write(tmp_path / "a.dat", text), "-"):
        done = run(model, given, input=text)
        assert done.exit_code == 1 and message in done.stderr
        assert len(words(run(model, given, "--input-format", "text", input=text).stdout)) > 1
    text = "1 The 7 cats sat on the mats in 3 rows of 10 ."
    assert words(run(model, "-", input=text).stdout) == text.split()


def test_folders_and_starting_again(model: Path, tmp_path: Path) -> None:
    """What was parsed is not parsed again; what failed, or has changed, is."""
    folder, out = tmp_path / "in", tmp_path / "out"
    good = write(folder / "a.txt", TEXT)
    bad = write(folder / "sub" / "b.txt", LATIN)
    write(folder / "sub" / "c.conllu", "1\tYes\t_\t_\t_\t_\t_\t_\t_\t_\n")
    write(folder / "empty.txt", "")
    write(folder / "notes.md", "not parsed")
    write(folder / ".git" / "config", "not parsed")
    for name in (".ipynb_checkpoints/a.txt", "._a.txt", "sub/.git/d.conllu"):
        write(folder / name, LATIN)
    for path in folder.rglob("*.*"):
        os.utime(path, (1_500_000_000, 1_500_000_000))
    done = run(model, folder, "-o", out)
    assert done.exit_code == 1
    assert f"{bad}, line 2: byte 0xe9 is not UTF-8" in done.stderr
    assert f"{folder}: 1 other file left out (parsed: .txt, .conllu," in done.stderr
    assert "empty.txt is empty" in done.stderr and "3 of 4 inputs" in done.stderr
    found = sorted(str(path.relative_to(out)) for path in out.rglob("[!.]*.*"))
    assert found == ["a.conllu", "empty.conllu", os.path.join("sub", "c.conllu")]
    made = (out / "a.conllu").stat().st_mtime_ns
    bad.write_text("Yes", encoding="utf-8")
    done = run(model, folder, "-o", out)
    assert done.exit_code == 0 and done.stderr.count("there already") == 3
    assert (out / "a.conllu").stat().st_mtime_ns == made
    assert words((out / "sub" / "b.conllu").read_text(encoding="utf-8")) == ["Yes"]
    good.write_text("Sleep !", encoding="utf-8")
    assert run(model, folder, "-o", out, "--force").exit_code == 0
    assert words((out / "a.conllu").read_text(encoding="utf-8")) == ["Sleep", "!"]
    hidden = write(folder / ".git" / "d.txt", "Yes")  # a path that is named is parsed
    assert words(run(model, hidden).stdout) == words(run(model, hidden.parent).stdout) == ["Yes"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", LATIN, "line 2: byte 0xe9"),
        ("a.txt", b"ok \xc3", "line 1: byte 0xc3"),
        ("a.conllu", b"1\tok\t_\n", "line 1: 3 columns"),
        ("a.conllu", b"1\tok\t_\t_\t_\t_\t2\tdet\t_\t_\n", "line 1: a head is 2"),
        ("a.conllu", b"1\tok\t_\tNOUN\t_\tCase\t0\troot\t_\t_\n", "line 1: the features 'Case'"),
        ("a.spacy", b"nonsense", "cannot be read as a .spacy file"),
    ],
)
def test_bad_input_leaves_the_old_output(
    model: Path, tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    source = write(tmp_path / "in" / name, content)
    target = write(tmp_path / "out.conllu", "old")
    done = run(model, source, "-o", target, "--force")
    assert done.exit_code == 1
    assert message in done.stderr and str(source) in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["out.conllu"]
    assert target.read_text(encoding="utf-8") == "old"


def test_output_that_cannot_be_written(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "a.txt", TEXT)
    target = write(tmp_path / "out.conllu", "old")

    def full(self: Any, docs: Any, confidence: bool) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spacy_nmparse.ud.parse_outputs.Part.fill", full)
    done = run(model, source, "-o", target, "--force")
    assert done.exit_code == 1 and "No space left" in done.stderr
    assert target.read_text(encoding="utf-8") == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "out.conllu"}
    below_a_file = tmp_path / "a.txt" / "out.conllu"
    done = run(model, source, "-o", below_a_file)
    assert done.exit_code == 1 and f"{below_a_file} cannot be written: " in done.stderr


@pytest.mark.parametrize("text", ["word " * 300, "x" * 1000, "A b. C d!\n" * 100, "a\n" * 500])
def test_long_paragraphs_are_cut(
    trained: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """In pieces of bounded length, without losing a character; words stay whole if they can."""
    monkeypatch.setattr(plain_text, "LONGEST", 100)
    monkeypatch.setattr(plain_text, "CHUNK", 16)
    items = list(text_items(io.BytesIO(text.encode()), "a", "a", by_line=False))
    assert len(items) >= len(text) // 100
    assert all(len(item.text) <= 100 for item in items)
    if " " in text:
        pieces = [item.text.split() for item in items]
        assert [word for piece in pieces for word in piece] == text.split()
    job = plan([str(write(tmp_path / "a.txt", text))], str(tmp_path / "b.conllu"), "conllu")[0]
    parse_file(trained, job, "conllu")
    out = (tmp_path / "b.conllu").read_text(encoding="utf-8")
    assert restored(out).strip() == text.strip()
    assert "# newpar" not in out


def test_plans(tmp_path: Path) -> None:
    a, b = write(tmp_path / "x" / "a.txt", ""), write(tmp_path / "x" / "a.conllu", "")
    other = write(tmp_path / "y" / "a.txt", "")
    with pytest.raises(ValueError, match="both be parsed into"):
        plan([str(a), str(other)], str(tmp_path / "out"), "conllu")
    with pytest.raises(ValueError, match="both be parsed into"):
        plan([str(tmp_path / "x")], str(tmp_path / "out"), "conllu")
    with pytest.raises(ValueError, match="would be overwritten"):
        plan([str(b)], str(b), "conllu")
    with pytest.raises(ValueError, match="must be a folder"):
        plan([str(a), str(b)], str(other), "conllu")
    for inputs in ([str(a), str(b)], [str(tmp_path / "y")]):
        with pytest.raises(ValueError, match=r"named like a file, .*: --output .*new \(and"):
            plan(inputs, str(tmp_path / "new.conllu"), "conllu")
    assert plan([str(a), "-"], str(tmp_path / "new.conllu") + "/", "json")
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        plan([str(tmp_path / "none")], "-", "conllu")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"has no \.txt"):
        plan([str(tmp_path / "empty")], "-", "conllu")
    jobs = plan([str(a), "-"], str(tmp_path / "out"), "json")
    assert [job.target.name for job in jobs if job.target] == ["a.jsonl", "stdin.jsonl"]


def test_links_lead_nowhere(model: Path, tmp_path: Path) -> None:
    """Of an output folder. But what is behind a file that is a link is written there."""
    other, out = tmp_path / "other", tmp_path / "out"
    write(tmp_path / "in" / "sub" / "a.txt", TEXT)
    kept = write(other / "kept", "as it was")
    out.mkdir()
    try:
        (out / "sub").symlink_to(other)
    except OSError:
        pytest.skip("links cannot be made here")
    with pytest.raises(ValueError, match=r"a\.conllu is not in .*out: a link leads out of it"):
        plan([str(tmp_path / "in")], str(out), "conllu")
    (out / "sub").unlink()
    (out / "sub").mkdir()
    (out / "sub" / "a.conllu").symlink_to(kept)
    other_file = write(other / "mine", "as it was")
    (out / "sub" / "a.conllu.new").symlink_to(other_file)
    done = run(model, tmp_path / "in", "-o", out)
    assert done.exit_code == 1 and "not made by parse: --force overwrites it" in done.stderr
    done = run(model, tmp_path / "in", "-o", out, "--force")
    assert done.exit_code == 0, done.output
    assert words(kept.read_text()) == TEXT.split() and other_file.read_text() == "as it was"
    assert all(path.is_symlink() for path in (out / "sub").glob("[!.]*"))
    assert "there already" in run(model, tmp_path / "in", "-o", out).stderr


def test_a_bar_on_a_terminal(
    trained: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    source = write(tmp_path / "a.txt", TEXT)
    trained.to_disk(tmp_path / "model")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    model, out = str(tmp_path / "model"), str(tmp_path / "out")
    run_parse(model, [str(source)], out, None, None, False, False, 1, 0, False, False)
    assert f"/{len(TEXT.encode())}.0" in terminal.getvalue()
    assert list(conllu_to_docs(tmp_path / "out", trained.vocab))


@pytest.mark.parametrize("option", ["--confidence", "--keep-heads"])
def test_what_needs_a_parser_of_ours(tmp_path: Path, option: str) -> None:
    spacy.blank("xx").to_disk(tmp_path / "model")
    source = write(tmp_path / "a.txt", TEXT)
    done = run(tmp_path / "model", source, option)
    assert done.exit_code == 2 and f"no parser of spacy-nmparse: {option}" in done.stderr
    plain = run(tmp_path / "model", source)
    assert words(plain.stdout) == TEXT.split()
    assert "1\tShe\t_\t_\t_\t_\t_\t_\t_\t_\n" in plain.stdout


def test_documents_keep_their_sentences(model: Path, tmp_path: Path) -> None:
    nlp = spacy.load(model)
    doc = gold_doc(nlp.vocab, [5, 5, 0])
    DocBin(docs=[doc]).to_disk(tmp_path / "a.spacy")
    out = run(model, tmp_path / "a.spacy").stdout
    assert out.count("# sent_id") == 3


def test_words_of_plain_text_are_forgotten(
    trained: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spacy_nmparse.ud.parse_inputs.SIZE", 40)
    monkeypatch.setattr("spacy_nmparse.ud.parse_files.NEW_STRINGS", 30)
    most: list[int] = []  # strings behind each piece
    parse = FileParser.parse

    def noted(parser: FileParser, piece: Piece) -> Part:
        part = parse(parser, piece)
        most.append(len(trained.vocab.strings))
        return part

    monkeypatch.setattr(FileParser, "parse", noted)
    text = "\n\n".join(f"word{i} saw{i} the cat ." for i in range(50))
    source = str(write(tmp_path / "a.txt", text))
    before = len(trained.vocab.strings)
    for form in ("conllu", "spacy", "json"):
        job = plan([source], str(tmp_path / form), form)[0]
        assert parse_file(trained, job, form).words == 250
    assert len(trained.vocab.strings) < before + 20
    assert len(most) > 30 and before + 30 < max(most) < before + 80
    assert words((tmp_path / "conllu").read_text(encoding="utf-8")) == text.split()
    docs = DocBin().from_disk(tmp_path / "spacy").get_docs(spacy.blank("xx").vocab)
    assert "\n\n".join(doc.text for doc in docs) == text


def numbered(n: int) -> str:
    """CoNLL-U of n sentences, of which every third has an id of its own."""
    rows = [f"# sent_id = s{i}\n" * (i % 3 == 0) + f"{i}".join(ROWS) for i in range(n)]
    return "\n".join(rows) + "\n"


ROWS = ("# n = ", "\n1\tShe\t_\t_\t_\t_\t_\t_\t_\t_\n2\tsaw\t_\t_\t_\t_\t_\t_\t_\tid=", "\n")


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spacy_nmparse.ud.parse_inputs.SIZE", 40)
    monkeypatch.setattr("spacy_nmparse.ud.parse_inputs.WORDS", 5)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("form", ["conllu", "json", "spacy"])
@pytest.mark.parametrize("kind", ["text", "conllu", "spacy"])
def test_pieces_have_the_bytes_of_the_whole(
    trained: Language, tmp_path: Path, kind: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "a"
    if kind == "text":
        write(source, " \n\n" + "\n \n\n".join(tree[0] for tree in TREES * 9))
    elif kind == "conllu":
        write(source, numbered(60))
    else:
        DocBin(docs=[gold_doc(trained.vocab, [5, 5, 0]) for _ in range(9)]).to_disk(source)
    made, n_pieces = [], []
    for n_process, size in ((1, 40), (2, 40), (1, 10**6)):
        monkeypatch.setattr("spacy_nmparse.ud.parse_inputs.SIZE", size)
        monkeypatch.setattr("spacy_nmparse.ud.parse_inputs.WORDS", size // 8)
        target = tmp_path / f"{n_process}-{size}"
        done: list[int] = []
        ((_, counts),) = parse_files(
            trained,
            [Job(source, target)],
            Asked(form, kind, n_process=n_process),
            done.append,
        )
        assert isinstance(counts, Counts) and sum(done) == source.stat().st_size
        made.append(target.read_bytes())
        n_pieces.append(len(done))
    assert made[0] == made[1]
    if kind != "conllu" or form == "conllu":  # else documents, of up to 50 sentences, end there
        assert made[0] == made[2]
    assert n_pieces[0] == n_pieces[1] > 3 and n_pieces[2] == 1


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("n_process", [1, 2])
def test_read_parse_write_in_python(
    trained: Language, model: Path, tmp_path: Path, n_process: int
) -> None:
    """The bytes are those of the command, and no more is read than is asked for."""
    source = write(tmp_path / "a.conllu", numbered(60))
    assert run(model, source, "-o", tmp_path / "expected").exit_code == 0
    given = FileReader(source)
    parses = FileParser(trained, n_process=n_process)(given)
    assert FileWriter(tmp_path / "made").write(parses).sentences == 60
    assert (tmp_path / "made").read_bytes() == (tmp_path / "expected").read_bytes()
    assert set(read_record(tmp_path)) == {"expected"}
    assert len(next(given.pieces()).items(trained.vocab)[0].to_parse()) < 60


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("n_process", [1, 2])
def test_documents_are_those_of_newdoc(model: Path, tmp_path: Path, n_process: int) -> None:
    """However long they are, in JSON and .spacy files; parsed in the parts of CoNLL-U."""
    sentences = numbered(130).rstrip().split("\n\n")
    for i, comments in (
        (60, "# of d\n# newdoc id = d"),
        (120, "# newdoc"),
        (125, "# newdoc id = e"),
    ):
        sentences[i] = f"{comments}\n{sentences[i]}"
    source = write(tmp_path / "a.conllu", "\n\n".join(sentences) + "\n\n")
    for form in ("conllu", "jsonl", "spacy"):
        done = run(
            *(model, source, "-o", tmp_path / f"out.{form}", "--confidence"),
            *("--n-process", n_process),
        )
        assert done.exit_code == 0 and "130 sentences" in done.stderr
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    docs = [json.loads(line) for line in lines]
    assert [doc.get("id") for doc in docs][-3:] == ["d", None, "e"]
    assert [len(doc["sents"]) for doc in docs][-3:] == [60, 5, 5]
    vocab = spacy.blank("xx").vocab
    loaded = list(DocBin().from_disk(tmp_path / "out.spacy").get_docs(vocab))
    assert [doc.text for doc in loaded] == [doc["text"] for doc in docs]
    made = "".join(doc_to_conllu(doc, confidence=True) for doc in loaded)
    whole = (tmp_path / "out.conllu").read_text(encoding="utf-8")
    assert without_ids(made) == without_ids(whole) and whole.count("HeadConfidence") == 260
    sentences[100] += "\n3"
    write(source, "\n\n".join(sentences))
    done = run(model, source, "-f", "json", "--n-process", n_process)
    line = "\n\n".join(sentences[:101]).count("\n") + 1
    assert done.exit_code == 1 and f"{source}, line {line}: 1 column" in done.stderr


def test_blank_lines_take_no_memory_to_speak_of(model: Path, tmp_path: Path) -> None:
    row = b"1\tYes" + b"\t_" * 8 + b"\n"
    source = write(tmp_path / "a.conllu", row + b"\n" * 60_000 + row)
    nlp = spacy.load(model)
    tracemalloc.start()
    try:
        counts = parse_file(nlp, Job(source, tmp_path / "b.conllu"), "conllu")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert counts.sentences == 2 and peak < 2_000_000


def without_ids(conllu: str) -> list[str]:
    return [line for line in conllu.split("\n") if not line.startswith("# sent_id")]


@pytest.mark.parametrize(
    "comment", ["# sent_id = \0x", "# sent_id = \0", "# note = # sent_id = \0", "# sent_id"]
)
def test_any_comment_comes_back(model: Path, tmp_path: Path, comment: str) -> None:
    row = "1\tYes" + "\t_" * 8 + "\n\n"
    source = write(tmp_path / "a.conllu", f"{comment}\n{row}{row}")
    done = run(model, source)
    sent_id = "" if "\0" in comment and "note" not in comment else "# sent_id = 1\n"
    kept = "" if comment == "# sent_id" else f"{comment}\n"
    head = f"{kept}{sent_id}# text = Yes\n1\tYes"
    assert done.exit_code == 0 and done.stdout.startswith(head)
    assert words(done.stdout) == ["Yes", "Yes"] and "# sent_id = 2\n" in done.stdout


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("n_process", [1, 2])
def test_a_late_piece_that_is_wrong(model: Path, tmp_path: Path, n_process: int) -> None:
    """Its line is named, what was there stays, and the files around it are parsed."""
    good = numbered(60)
    lines = good.split("\n")
    lines[150] = "1\tShe"
    sources = [
        write(tmp_path / "in" / "a.txt", "Yes\n\n" * 30),
        write(tmp_path / "in" / "b.conllu", "\n".join(lines)),
        write(tmp_path / "in" / "c.txt", b"Yes\n\n" * 30 + LATIN),
        write(tmp_path / "in" / "d.conllu", good),
    ]
    for path in sources:
        write(tmp_path / "out" / f"{path.stem}.conllu", "old")
    done = run(model, *sources, "-o", tmp_path / "out", "--force", "--n-process", n_process)
    assert done.exit_code == 1
    assert f"{sources[1]}, line 151: 2 columns" in done.stderr
    assert f"{sources[2]}, line 62: byte 0xe9" in done.stderr
    texts = [(tmp_path / "out" / f"{one}.conllu").read_text() for one in "abcd"]
    assert texts[1] == texts[2] == "old" and texts[0].count("Yes") == 60
    assert texts[3].count("# sent_id") == 60 and "# sent_id = 60\n" in texts[3]


@pytest.mark.skipif(os.name != "posix", reason="kills by SIGKILL")
@pytest.mark.usefixtures("small_pieces")
def test_a_file_that_kills_its_process(tmp_path: Path) -> None:
    """It is named, what was there stays, and the files around it are parsed."""
    nlp = spacy.blank("xx")
    Language.component("deadly", func=Deadly())
    nlp.add_pipe("deadly")
    texts = {"a": "Yes\n\n" * 40, "b": "Yes\n\n" * 40 + "die", "c": "Yes"}
    jobs = [
        Job(write(tmp_path / name, text), write(tmp_path / "out" / name, "old"))
        for name, text in texts.items()
    ]
    outcomes = [outcome for _, outcome in parse_files(nlp, jobs, Asked(n_process=2))]
    assert isinstance(outcomes[1], ProcessDied)
    assert [one.words for one in outcomes if isinstance(one, Counts)] == [40, 1]
    kept = [job.target.read_text() == "old" for job in jobs if job.target]
    assert kept == [False, True, False]
    assert not list((tmp_path / "out").glob(".nmparse-*"))


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_start_methods(
    trained: Language, tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"processes cannot be started by {method} here")
    pool = partial(ProcessPoolExecutor, mp_context=multiprocessing.get_context(method))
    monkeypatch.setattr(
        processes,
        "ProcessPoolExecutor",
        lambda n, context, start, given: pool(n, initializer=start, initargs=given),
    )
    source = write(tmp_path / "a.txt", TEXT)
    for n_process in (1, 2):
        parse_file(trained, Job(source, tmp_path / f"{n_process}"), "conllu", n_process=n_process)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


@pytest.mark.parametrize("again", ["out", "other"])
def test_an_output_folder_inside_the_input_folder(model: Path, tmp_path: Path, again: str) -> None:
    """The same command goes on after a stop; outputs are no inputs, whatever the output."""
    folder = tmp_path / "in"
    write(folder / "a.txt", TEXT)
    bad = write(folder / "sub" / "b.txt", LATIN)
    assert run(model, folder, "-o", folder / "out").exit_code == 1
    assert run(model, folder / "a.txt", "-o", folder / "single.conllu").exit_code == 0
    bad.write_text("Yes", encoding="utf-8")
    done = run(model, folder, "-o", folder / again)
    assert done.exit_code == 0, done.output
    assert f"{folder}: 2 files that this command wrote earlier: not parsed" in done.stderr
    assert ("there already" in done.stderr) == (again == "out")
    made = sorted(path.relative_to(folder / again) for path in (folder / again).rglob("*.conllu"))
    assert made == [Path("a.conllu"), Path("sub", "b.conllu")]
    with pytest.raises(FileNotFoundError, match="did not write: name files"):
        plan([str(folder / again / "sub")], str(tmp_path / "x"), "conllu")


def test_other_options_parse_again(model: Path, tmp_path: Path) -> None:
    """And so does another model, or another input."""
    source, target = write(tmp_path / "a.txt", TEXT), tmp_path / "a.conllu"
    other = tmp_path / "other"
    shutil.copytree(model, other)
    write(other / "meta.json", (other / "meta.json").read_text().replace("}", " }", 1))
    os.utime(other / "meta.json", (1_000_000_000, 1_000_000_000))
    for arguments, is_made in [
        ([model], True),
        ([model], False),
        ([model, "--confidence"], True),
        ([model, "--confidence"], False),
        ([other, "--confidence"], True),
    ]:
        done = run(arguments[0], source, "-o", target, *arguments[1:])
        assert ("1 of 1 input parsed" in done.stderr) == is_made, done.stderr
        assert ("there already" in done.stderr) != is_made
    same = write(tmp_path / "b.txt", TEXT.swapcase())
    os.utime(same, ns=(0, source.stat().st_mtime_ns))
    run(other, same, "-o", target, "--confidence")
    assert words(target.read_text(encoding="utf-8")) == TEXT.swapcase().split()


def test_what_parse_did_not_write_stays(model: Path, tmp_path: Path) -> None:
    """The other inputs are parsed, and a line of the record whose file did not come is none."""
    sources = [write(tmp_path / f"{name}.txt", TEXT) for name in "ab"]
    a, b = (tmp_path / "out" / f"{name}.conllu" for name in "ab")
    assert run(model, sources[0], "-o", a).exit_code == 0
    with (tmp_path / "out" / RECORD).open("a") as file:
        file.write('\n{"output": "a.conllu", "stamp": [0, 0]}')
    assert f"{a} is there already, made of {sources[0]}" in run(model, sources[0], "-o", a).stderr
    write(a, "corrected by hand")
    for message in ("was changed after it was written", "is there already, and not made by parse"):
        done = run(model, *sources, "-o", a.parent)
        assert done.exit_code == 1 and f"{a} {message}: --force overwrites it" in done.stderr
        assert a.read_text() == "corrected by hand"
        assert words(b.read_text(encoding="utf-8")) == TEXT.split()
        (tmp_path / "out" / RECORD).unlink()
        b.unlink()
    assert run(model, "-", "-o", a, input=TEXT).exit_code == 1
    assert run(model, "-", "-o", a, "--force", input=TEXT).exit_code == 0
    assert words(a.read_text(encoding="utf-8")) == TEXT.split()


def test_lines_are_documents(model: Path, tmp_path: Path) -> None:
    """Each with an id of its own, and the file comes back byte for byte."""
    lines = "She saw the cat .  \n\n \nYes\n\n\nSleep  !\n"
    source = write(tmp_path / "a.txt", lines)
    done = run(model, source, "--input-format", "lines")
    assert done.exit_code == 0, done.output
    found = re.findall("# newdoc id = (.*)", done.stdout)
    assert found == ["a-1", "a-2", "a-3"] and "newpar" not in done.stdout
    assert restored(done.stdout) == lines
    out = run(model, source, "--input-format", "lines", "-f", "json").stdout
    texts = [json.loads(line)["text"] for line in out.splitlines()]
    assert texts == ["She saw the cat .", "Yes", "Sleep !"]


@pytest.mark.parametrize("n_process", [1, 2])
def test_documents_that_fail(
    trained: Language, tmp_path: Path, n_process: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are written without a parse, with the error; the others of the batch are parsed."""
    nlp = spacy.blank("xx")
    nlp.add_pipe("nm_parser", source=trained)
    parser: Any = nlp.get_pipe("nm_parser")
    predict = parser.predict

    def fails(docs: list[Doc]) -> Any:
        if any("London" in doc.text for doc in docs):
            raise RuntimeError("no more\nLondon")
        return predict(docs)

    monkeypatch.setattr(parser, "predict", fails)  # it is the fixture's
    nlp.max_length = 100
    conllu = trained.make_doc("Yes London"), trained.make_doc("Yes")
    source = write(tmp_path / "a.txt", "Yes\nI like London\n" + "cat " * 40 + "\nSleep !\n")
    DocBin(docs=conllu).to_disk(tmp_path / "b.spacy")
    for name, expected in (("a", [0, 1, 1, 0]), ("b", [1, 0])):
        for form in ("json", "conllu"):
            job = Job(source if name == "a" else tmp_path / "b.spacy", tmp_path / f"{name}.{form}")
            kind = "lines" if name == "a" else None
            done = list(parse_files(nlp, [job], Asked(form, kind, n_process=n_process)))
            assert isinstance(done[0][1], Exception)  # without the option, as before
            asked = Asked(form, kind, n_process=n_process, keep_going=True)
            [(_, counts)] = parse_files(nlp, [job], asked)
            assert isinstance(counts, Counts)
            assert (counts.documents, counts.failed) == (len(expected), sum(expected))
        loaded = [json.loads(x) for x in (tmp_path / f"{name}.json").read_text().splitlines()]
        assert ["parse_error" in doc for doc in loaded] == expected
        text = (tmp_path / f"{name}.conllu").read_text()
        assert text.count("# parse_error = RuntimeError: no more London\n") == 1
        heads = [
            [row.split("\t")[6] for row in doc.splitlines() if row[:1].isdigit()]
            for doc in text.strip().split("\n\n")
        ]
        assert [set(head) == {"_"} for head in heads] == expected


# Inputs and outputs that are no regular files, or closed


@pytest.mark.skipif(os.name != "posix", reason="makes FIFOs")
@pytest.mark.parametrize("form", ["conllu", "json", "spacy"])
def test_outputs_that_are_no_files(model: Path, tmp_path: Path, form: str) -> None:
    """They are written into, without a record; and so is what is behind a link."""
    source, expected = write(tmp_path / "a.txt", TEXT), tmp_path / "expected"
    fifo, link = tmp_path / "out" / "fifo", tmp_path / "link"
    fifo.parent.mkdir()
    os.mkfifo(fifo)
    found: list[bytes] = []
    reader = Thread(target=lambda: found.append(fifo.read_bytes()), daemon=True)
    reader.start()
    (tmp_path / "far").mkdir()
    link.symlink_to(Path("far", "file"))
    for out in (expected, fifo, link):
        done = run(model, source, "-o", out, "-f", form)
        assert done.exit_code == 0, done.output
    assert fifo.is_fifo() and link.is_symlink()
    reader.join()
    assert found == [(tmp_path / "far" / "file").read_bytes()] == [expected.read_bytes()]
    assert [path.name for path in fifo.parent.iterdir()] == ["fifo"]
    assert "there already" in run(model, source, "-o", link, "-f", form).stderr
    done = run(model, source, source, "-o", fifo)
    assert done.exit_code == 2 and f"{fifo} must be a folder" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="makes FIFOs")
@pytest.mark.parametrize("kind", ["text", "conllu"])
def test_an_input_that_is_no_file(model: Path, tmp_path: Path, kind: str) -> None:
    """As of ``parse <(cat text)``: it is read once, and parsed each time."""
    fifo, target = tmp_path / "fifo", tmp_path / "out.conllu"
    os.mkfifo(fifo)
    for text in (TEXT, TEXT.swapcase()):
        conllu = run(model, write(tmp_path / "a.txt", text)).stdout
        content = conllu if kind == "conllu" else text
        Thread(target=fifo.write_text, args=(content,), daemon=True).start()
        done = run(model, fifo, "--input-format", kind, "-o", target)
        assert done.exit_code == 0, done.output
        assert words(target.read_text(encoding="utf-8")) == text.split()
    done = run(model, fifo, "--input-format", "spacy")
    assert done.exit_code == 2 and f"A .spacy file cannot come from {fifo}" in done.stderr
    jobs = [Job(fifo, None), Job(tmp_path / "a.txt", None), Job(None, None)]
    assert [job.is_stream for job in jobs] == [True, False, True]


def test_closed_streams(
    trained: Language, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = write(tmp_path / "a.txt", TEXT), tmp_path / "out.conllu"
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr(sys, "stdout", None)
    for job, message in (
        (Job(None, target), "standard input is closed: name a file"),
        (Job(source, None), "standard output is closed: name a file with --output"),
    ):
        with pytest.raises(ValueError, match=message):
            parse_file(trained, job, "conllu")
    assert not target.exists()
    run_parse(str(model), [str(source)], str(target), None, None, False, False, 1, 0, False, False)
    assert words(target.read_text(encoding="utf-8")) == TEXT.split()


@pytest.mark.skipif(sys.platform != "linux", reason="names files by bytes")
def test_names_that_are_not_utf8(model: Path, tmp_path: Path) -> None:
    """Of the input, the output and the model; where they are text, bytes are escaped."""
    name = os.fsdecode(b"d\xe9j\xe0")
    shutil.copytree(model, tmp_path / name / name)
    source = write(tmp_path / f"{name}.txt", TEXT)
    for said in ("1 of 1 input parsed", "is there already"):
        done = run(tmp_path / name / name, source, "-o", f"{tmp_path / name}/")
        assert done.exit_code == 0 and said in done.stderr, done.output
    text = (tmp_path / name / f"{name}.conllu").read_text(encoding="utf-8")
    assert text.startswith("# newdoc id = d\\udce9j\\udce0\n") and words(text) == TEXT.split()
    hostile = write(tmp_path / "a\n1\tx.txt", TEXT)
    assert run(model, hostile).stdout.startswith("# newdoc id = a_1_x\n# sent_id")


# The record


def test_the_record_of_two_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both begin it: both lines are whole. So is the one behind a line that was cut."""
    dumps = json.dumps

    def other_first(entry: Any) -> str:
        monkeypatch.setattr(json, "dumps", dumps)
        note(write(tmp_path / "b", "b"), tmp_path / "b")
        return dumps(entry)

    monkeypatch.setattr(json, "dumps", other_first)
    note(write(tmp_path / "a", "a"), tmp_path / "a")
    assert set(read_record(tmp_path)) == {"a", "b"}
    with (tmp_path / RECORD).open("a") as file:
        file.write('{"output": "c')
    note(write(tmp_path / "d", "d"), tmp_path / "d")
    assert set(read_record(tmp_path)) == {"a", "b", "d"}
    lines = (tmp_path / RECORD).read_text().split("\n")
    assert len(lines) == 5 and lines[-1] == ""


def test_a_record_that_is_deep(model: Path, tmp_path: Path) -> None:
    source, target = write(tmp_path / "a.txt", TEXT), tmp_path / "out" / "a.conllu"
    assert run(model, source, "-o", target).exit_code == 0
    with (tmp_path / "out" / RECORD).open("a") as file:
        file.write("\n" + "[" * 200_000 + "\n")
    assert "there already" in run(model, source, "-o", target).stderr


@pytest.mark.skipif(os.name != "posix", reason="makes FIFOs and links")
@pytest.mark.parametrize("kind", ["fifo", "link", "folder"])
def test_a_record_that_is_no_file(model: Path, tmp_path: Path, kind: str) -> None:
    """It is neither waited for nor written into."""
    source, mine = write(tmp_path / "a.txt", TEXT), write(tmp_path / "mine", "as it was")
    record = tmp_path / "out" / RECORD
    record.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(record)
    elif kind == "link":
        record.symlink_to(mine)
    else:
        record.mkdir()
    done = run(model, source, "-o", tmp_path / "out" / "a.conllu")
    assert done.exit_code == 1 and f"{record} is no regular file: remove it" in done.stderr
    assert mine.read_text() == "as it was" and list(record.parent.iterdir()) == [record]
