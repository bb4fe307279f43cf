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
from spacy.tokens import Doc, DocBin, Span

from spacy_nmparse.cli.parse import run as run_parse
from spacy_nmparse.cli.plan import plan
from spacy_nmparse.pipe import processes
from spacy_nmparse.pipe.processes import ProcessDied
from spacy_nmparse.ud import FileParser, FileReader, FileWriter, plain_text
from spacy_nmparse.ud.conllu_docs import conllu_to_docs
from spacy_nmparse.ud.docs_conllu import doc_to_conllu
from spacy_nmparse.ud.jobs import RECORD, Job, note, read_record
from spacy_nmparse.ud.parse_files import parse_file, parse_files
from spacy_nmparse.ud.parse_inputs import Piece
from spacy_nmparse.ud.parse_outputs import Counts, Part
from spacy_nmparse.ud.plain_text import text_items
from tests.commands import run as run_command
from tests.pipe.common import TREES, gold_doc
from tests.pipe.test_processes import Deadly
from tests.ud.test_round_trip import restored
from tests.validator import format_errors


def rows_of(conllu: str) -> list[list[str]]:
    """The columns of its rows."""
    return [line.split("\t") for line in conllu.splitlines() if "\t" in line]


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
    return [row[1] for row in rows_of(conllu) if row[0].isdecimal()]


def made(
    model: Path, source: str | Path, *options: Any, to: Path | None = None, **given: Any
) -> str:
    """What a parse that succeeds prints, or the text of the output that it writes."""
    done = run(model, source, *(("-o", to) if to else ()), *options, **given)
    assert done.exit_code == 0, done.output
    return to.read_text(encoding="utf-8") if to and to.is_file() else done.stdout


def fails(model: Path, *arguments: Any, status: int = 1, **given: Any) -> str:
    """What a parse that fails says."""
    done = run(model, *arguments, **given)
    assert done.exit_code == status, done.output
    return done.stderr


def test_text(model: Path, tmp_path: Path) -> None:
    source = write(tmp_path / "my text.txt", "\ufeff" + TEXT)
    text = made(model, source, to=tmp_path / "out.conllu")
    assert words(text) == TEXT.split()
    assert text.startswith("# newdoc id = my_text\n# sent_id = 1\n# text = She saw the cat .\n")
    assert text.count("# newpar") == 1
    assert "# newpar\n# sent_id = 3\n# text = Sleep !\n" in text
    assert "1\tSleep\t_\t_\t_\t_\t0\troot\t_\tSpacesAfter=\\s\\s\n" in text
    assert format_errors(text, level=1) == []
    heads, labels = TREES[0][1:]
    numbers = [str(0 if head == i else head + 1) for i, head in enumerate(heads)]
    assert [row[6] for row in rows_of(text)[:5]] == numbers
    assert [row[7] for row in rows_of(text)[:5]] == labels.replace("ROOT", "root").split()


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
    made(model, write(tmp_path / "in" / "a.conllu", conllu), "-o", f"{tmp_path}/out/")
    text = (tmp_path / "out" / "a.conllu").read_text(encoding="utf-8")
    assert re.sub(r"\t\d+\t[a-z]+(?=\t_\t)", "\t_\t_", text) == conllu
    assert [row[6] for row in rows_of(text)] == ["2", "0", "_", "4", "2", "2", "0"]
    assert format_errors(text) == []


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(("form", "n_process"), [("conllu", 1), ("conllu", 2), ("spacy", 1)])
def test_heads_are_kept(model: Path, tmp_path: Path, form: str, n_process: int) -> None:
    text = sentence("She 4 discourse _", "saw _ _ _", "the 0 root _", "cat _ _ _")
    source, target = write(tmp_path / "a.conllu", text * 40), tmp_path / "out.conllu"
    if form == "spacy":
        docs = conllu_to_docs(source, spacy.load(model).vocab, n_sents=3)
        source = tmp_path / "a.spacy"
        DocBin(docs=docs, store_user_data=True).to_disk(source)
    plain = run(model, source, "-o", target)
    assert "40 sentences" in plain.stderr and "discourse" not in target.read_text(encoding="utf-8")
    done = run(model, source, "-o", target, "--keep-heads", "--n-process", n_process)
    assert "40 sentences" in done.stderr  # it was not there already
    arcs = [row[6:8] for row in rows_of(target.read_text(encoding="utf-8"))]
    assert arcs[::4] == [["4", "discourse"]] * 40 and arcs[2::4] == [["0", "root"]] * 40
    assert all(head not in ("_", "0") for head, _ in arcs[1::4] + arcs[3::4])


def sentence(*words: str, comments: str = "") -> str:
    """CoNLL-U of words: FORM, HEAD, DEPREL and MISC of each."""
    rows = [
        "\t".join([str(number), form, *"____", head, label, "_", misc]) + "\n"
        for number, (form, head, label, misc) in enumerate(map(str.split, words), start=1)
    ]
    return comments + "".join(rows) + "\n"


YES = sentence("Yes _ _ _")


def marks(conllu: str) -> list[tuple[str, str, str]]:
    """FORM, HEAD and MISC of each word."""
    return [(row[1], row[6], row[9]) for row in rows_of(conllu)]


@pytest.mark.parametrize("form", ["conllu", "spacy"])
def test_known_heads_are_marked(model: Path, tmp_path: Path, form: str) -> None:
    """Where a file has marks, only marked words keep their heads; plain parsing keeps no mark."""
    first, out = tmp_path / "a.conllu", tmp_path / f"out.{form}"

    def parsed(content: str, *options: str) -> list[tuple[str, str, str]]:
        made(model, write(first, content), "-o", out, "--force", *options)
        return marks(made(model, out if form == "spacy" else first, *options))  # from there, too

    known, confirmed = "KnownHead=Yes", "Confirmed=Yes"
    content = sentence("She 4 obj _", "saw _ _ a=b", "the 4 det c=d", "cat _ _ _")
    (_, head, misc), saw, the, cat = parsed(content, "--keep-heads")
    assert (head, misc, the) == ("4", known, ("the", "4", f"c=d|{known}"))
    assert saw[1] not in ("_", "4") or (cat[1] != "2" and saw[2] == "a=b" and cat[2] == "_")
    line = made(model, first, "--keep-heads", to=tmp_path / "out.jsonl")
    assert [token.get("known_head") for token in json.loads(line)["tokens"]] == [1, None, 1, None]
    marked = ["She 4 obj _", f"saw 0 root x=y|{confirmed}"]
    marked += [f"the 4 det {known}", f"cat _ _ {known}"]
    assert [misc for *_, misc in parsed(sentence(*marked))] == ["_", "x=y", "_", "_"]
    she, saw, the, cat = parsed(sentence(*marked), "--keep-heads")
    assert (saw, the) == (("saw", "0", f"x=y|{confirmed}"), ("the", "4", known))
    assert (she[2], cat[2]) == ("_", "_") and cat[1] != "_"
    kept = parsed(sentence(*marked) + sentence("Sleep 2 obj _", "! 0 root _"), "--keep-heads")
    assert marks(made(model, first))[4][1:] == kept[4][1:]  # marks are the file's


def test_heads_that_cannot_be_kept(model: Path, tmp_path: Path) -> None:
    """The line and the id are named; nothing but the sentence stays without a parse."""
    good, options = sentence("She 2 nsubj _", "saw _ _ _"), ("--keep-going", "--force")
    source, target = tmp_path / "a.conllu", tmp_path / "out.conllu"
    for name, bad in (
        ("two roots", ("Sleep 0 root _", "! 0 root _")),
        ("cycle", ("the 2 det _", "cat 1 obj _", "! _ _ _")),
    ):
        content = good * 30 + sentence(*bad, comments=f"# sent_id = {name}\n") + good * 40
        said = fails(model, write(source, content), "-o", target, "--keep-heads")
        assert f"{source}, line 92 (sent_id = {name}): The head of " in said
        assert not target.exists()
        text = made(model, source, "--keep-heads", *options, to=target)
        assert text.count("# parse_error = ValueError: The head of ") == 1
        heads = [row[6] for row in rows_of(text)]
        assert heads[60 : 60 + len(bad)] == [row.split()[1] for row in bad]
        del heads[60 : 60 + len(bad)]
        assert heads == ["2", "0"] * 70
        write(source, "# newdoc\n" + content)
        line = made(model, source, "--keep-heads", *options, to=tmp_path / "out.jsonl")
        assert len(json.loads(line)["tokens"]) == 140 + len(bad)
        target.unlink()
    content = good + sentence("Sleep 0 root _", "! 0 root _", "cat _ _ _")
    docs = conllu_to_docs(write(source, content), spacy.load(model).vocab, n_sents=1)
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "a.spacy")
    said = fails(model, tmp_path / "a.spacy", "-o", target, "--keep-heads")
    assert "a.spacy, document 2: The head of '!'" in said


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("n_process", [1, 2])
def test_texts_of_other_words(model: Path, tmp_path: Path, n_process: int) -> None:
    """They are written anew, with one warning a file."""
    same, other = f"# text = Yes\n{YES}", f"# text = No\n{YES}"
    source = write(tmp_path / "a.conllu", same * 20 + other + same * 20 + other)
    done = run(model, source, "--n-process", n_process)
    message = "line 62: # text is not that of the words; it is written anew (2 sentences)"
    assert done.stderr.count("# text") == 1
    assert f"Warning: {source}, {message}.\n" in done.stderr
    assert done.stdout.count("# text = Yes\n") == 42
    assert "# text" not in run(model, source, "-f", "json").stderr


def test_every_format_in_and_out(model: Path, tmp_path: Path) -> None:
    """Text to .spacy to JSON and CoNLL-U: the trees stay; sentences are those of the document."""
    source = write(tmp_path / "a.txt", TEXT)
    conllu, line = (made(model, source, to=tmp_path / f"a.{form}") for form in ("conllu", "jsonl"))
    made(model, source, "-o", tmp_path / "a.spacy")
    nlp = spacy.load(model)
    docs = list(DocBin().from_disk(tmp_path / "a.spacy").get_docs(nlp.vocab))
    assert made(model, tmp_path / "a.spacy") == conllu
    loaded = [json.loads(one) for one in line.splitlines()]
    assert [one["text"] for one in loaded] == [doc.text for doc in docs]
    heads = [[token["head"] for token in one["tokens"]] for one in loaded]
    assert heads == [[token.head.i for token in doc] for doc in docs]
    DocBin(docs=[gold_doc(nlp.vocab, [5, 5, 0])]).to_disk(tmp_path / "a.spacy")
    assert made(model, tmp_path / "a.spacy").count("# sent_id") == 3


def test_annotation_of_other_kinds_stays(model: Path, tmp_path: Path) -> None:
    """Entities, groups of spans and categories of a .spacy file."""
    vocab = spacy.load(model).vocab
    doc = gold_doc(vocab, [5, 0])
    doc.ents = [Span(doc, 1, 3, "X")]
    doc.spans["x"] = [Span(doc, 0, 2, "Y", kb_id="Q1")]
    doc.cats = {"news": 0.5}
    DocBin(docs=[doc, gold_doc(vocab, [0])]).to_disk(tmp_path / "a.spacy")
    made(model, tmp_path / "a.spacy", "-o", tmp_path / "b.spacy")
    one, other = DocBin().from_disk(tmp_path / "b.spacy").get_docs(vocab)
    assert one.spans.to_bytes() == doc.spans.to_bytes() and one.cats == doc.cats
    assert [(e.start, e.end, e.label_) for e in one.ents] == [(1, 3, "X")]
    assert not other.spans and not other.cats and not other.has_annotation("ENT_IOB")
    assert '"label":"X"' in made(model, tmp_path / "a.spacy", "-f", "json").replace(" ", "")


def test_standard_input_and_output(model: Path) -> None:
    out = made(model, "-", input=TEXT)
    assert words(out) == TEXT.split() and "# newdoc id = stdin" in out
    assert words(made(model, "-", "--input-format", "conllu", input=out)) == TEXT.split()
    for arguments in (["-f", "spacy"], ["--input-format", "spacy"], ["-f", "xml"]):
        fails(model, "-", *arguments, status=2)
    for form, name in (("json", "head_confidence"), ("conllu", "HeadConfidence")):
        out = made(model, "-", "--confidence", "--format", form, input=TEXT)
        assert out.count(name) == len(TEXT.split())


PLUS = """\
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
    folder, out = tmp_path / "in", tmp_path / "out"
    text = PLUS + PLUS[PLUS.index("# sent_id") :] * 5
    source = write(folder / "a.conllup", "\ufeff" + text)
    made(model, folder, "-o", out, "--n-process", n_process)
    found = (out / "a.conllup").read_text(encoding="utf-8")
    names = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE"
    assert found.startswith(f"# global.columns = {names}\n# sent_id = a\n# text = Yes\n1\tYes")
    assert [row[0:2] + row[3:4] + row[9:] for row in rows_of(found)] == 6 * [
        ["1", "Yes", "INTJ", "x=y", "1:VID"],
        ["1-2", "dont", "_", "_", "*"],
        ["1", "do", "AUX", "_", "*"],
        ["2", "nt", "PART", "SpaceAfter=No", "1"],
    ]
    assert {row[6] for row in rows_of(found) if row[:2] == ["1", "Yes"]} == {"0"}
    again = made(model, out / "a.conllup", to=tmp_path / "again.conllup")
    made(model, source, "-o", tmp_path / "a.spacy")
    for other in (again, made(model, tmp_path / "a.spacy")):
        pairs = zip(rows_of(other), rows_of(found), strict=True)
        assert all(one[:6] + one[8:] == two[:6] + two[8:] for one, two in pairs)
    (first, _, *_) = conllu_to_docs(source, spacy.blank("xx").vocab)
    assert doc_to_conllu(first).startswith(f"# global.columns = {names[:-12]}\n# sent_id = a\n")
    for wrong in ("ID FORM FORM", "FORM"):
        write(source, PLUS.replace("HEAD ID FORM", wrong))
        assert f"{source}, line 1: # global.columns" in fails(model, source)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"# text = Yes\n{YES}", "looks like CoNLL-U: --input-format conllu (text, if it is none)"),
        (f"\ufeff{YES}", "looks like CoNLL-U: --input-format conllu (text, if it is none)"),
        (PLUS, "looks like CoNLL-U Plus: --input-format conllu"),
        ("1\tYes" + "\t_" * 12, "a table of words, but not like CoNLL-U"),
        ("1 Yes _ INTJ _ _ 0 root _ _", "a table of words, but not like CoNLL-U"),
        ("1   Yes  _ INTJ  _  0  root  _ ", "a table of words, but not like CoNLL-U"),
    ],
)
def test_tables_are_no_text(model: Path, tmp_path: Path, text: str, message: str) -> None:
    """Unless they are named so."""
    for given in (write(tmp_path / "m.conllu.txt", text), "-"):
        said = fails(model, given, input=text)
        assert message in said and ("standard input" if given == "-" else str(given)) in said
        assert len(words(made(model, given, "--input-format", "text", input=text))) > 1
        if YES in text:
            assert words(made(model, given, "--input-format", "conllu", input=text)) == ["Yes"]
    text = "1 The 7 cats sat on the mats in 3 rows of 10 ."
    assert words(made(model, "-", input=text)) == text.split()


def test_folders_and_starting_again(model: Path, tmp_path: Path) -> None:
    """What was parsed is not parsed again; what failed, or has changed, is."""
    folder, out = tmp_path / "in", tmp_path / "out"
    good, bad = write(folder / "a.txt", TEXT), write(folder / "sub" / "b.txt", LATIN)
    write(folder / "sub" / "c.conllu", "1\tYes\t_\t_\t_\t_\t_\t_\t_\t_\n")
    write(folder / "empty.txt", "")
    for name in ("notes.md", ".git/config"):
        write(folder / name, "not parsed")
    for name in (".ipynb_checkpoints/a.txt", "._a.txt", "sub/.git/d.conllu"):
        write(folder / name, LATIN)
    for path in folder.rglob("*.*"):
        os.utime(path, (1_500_000_000, 1_500_000_000))
    said = fails(model, folder, "-o", out)
    assert f"{bad}, line 2: byte 0xe9 is not UTF-8" in said
    assert f"{folder}: 1 other file left out (parsed: .txt, .conllu," in said
    assert "empty.txt is empty" in said and "3 of 4 inputs" in said
    found = sorted(str(path.relative_to(out)) for path in out.rglob("[!.]*.*"))
    assert found == ["a.conllu", "empty.conllu", os.path.join("sub", "c.conllu")]
    first = (out / "a.conllu").stat().st_mtime_ns
    bad.write_text("Yes", encoding="utf-8")
    done = run(model, folder, "-o", out)
    assert done.exit_code == 0 and done.stderr.count("there already") == 3
    assert (out / "a.conllu").stat().st_mtime_ns == first
    assert words((out / "sub" / "b.conllu").read_text(encoding="utf-8")) == ["Yes"]
    good.write_text("Sleep !", encoding="utf-8")
    made(model, folder, "-o", out, "--force")
    assert words((out / "a.conllu").read_text(encoding="utf-8")) == ["Sleep", "!"]
    hidden = write(folder / ".git" / "d.txt", "Yes")  # a path that is named is parsed
    assert words(made(model, hidden)) == words(made(model, hidden.parent)) == ["Yes"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", LATIN, "line 2: byte 0xe9"),
        ("a.txt", b"ok \xc3", "line 1: byte 0xc3"),
        ("a.conllu", b"1\tok\t_\n", "line 1: 3 columns"),
        ("a.conllu", b"1\tok\t_\t_\t_\t_\t2\tdet\t_\t_\n", "line 1: a head is 2"),
        ("a.conllu", b"1\tok\t_\tNOUN\t_\tCase\t0\troot\t_\t_\n", "line 1: the features 'Case'"),
        ("a.spacy", b"nonsense", "cannot be read as a .spacy file"),
        ("a.txt", TEXT, "No space left"),
    ],
)
def test_what_fails_leaves_the_old_output(
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: str | bytes,
    message: str,
) -> None:
    """A bad input, or a full disk."""
    source = write(tmp_path / "in" / name, content)
    target = write(tmp_path / "out.conllu", "old")

    def full(self: Any, docs: Any, confidence: bool) -> None:
        raise OSError(28, "No space left on device")

    if content == TEXT:
        monkeypatch.setattr("spacy_nmparse.ud.parse_outputs.Part.fill", full)
        below = source / "out.conllu"
        assert f"{below} cannot be written: " in fails(model, source, "-o", below)
    said = fails(model, source, "-o", target, "--force")
    assert message in said and (content == TEXT or str(source) in said)
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out.conllu"}
    assert target.read_text(encoding="utf-8") == "old"


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
    (tmp_path / "empty").mkdir()
    for message, inputs, output in (
        ("both be parsed into", [a, other], tmp_path / "out"),
        ("both be parsed into", [tmp_path / "x"], tmp_path / "out"),
        ("would be overwritten", [b], b),
        ("must be a folder", [a, b], other),
        *(
            (r"named like a file, .*: --output .*new \(and", inputs, tmp_path / "new.conllu")
            for inputs in ([a, b], [tmp_path / "y"])
        ),
        ("no file or folder", [tmp_path / "none"], "-"),
        (r"has no \.txt", [tmp_path / "empty"], "-"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=message):
            plan([str(path) for path in inputs], str(output), "conllu")
    assert plan([str(a), "-"], str(tmp_path / "new.conllu") + "/", "json")
    jobs = plan([str(a), "-"], str(tmp_path / "out"), "json")
    assert [job.target.name for job in jobs if job.target] == ["a.jsonl", "stdin.jsonl"]


def test_links_lead_nowhere(model: Path, tmp_path: Path) -> None:
    """Of an output folder. But what is behind a file that is a link is written there."""
    other, out = tmp_path / "other", tmp_path / "out"
    write(tmp_path / "in" / "sub" / "a.txt", TEXT)
    kept, mine = (write(other / name, "as it was") for name in ("kept", "mine"))
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
    (out / "sub" / "a.conllu.new").symlink_to(mine)
    said = fails(model, tmp_path / "in", "-o", out)
    assert "not made by parse: --force overwrites it" in said
    made(model, tmp_path / "in", "-o", out, "--force")
    assert words(kept.read_text()) == TEXT.split() and mine.read_text() == "as it was"
    assert all(path.is_symlink() for path in (out / "sub").glob("[!.]*"))
    assert "there already" in run(model, tmp_path / "in", "-o", out).stderr


def test_a_bar_on_a_terminal(
    model: Path, trained: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, source = Terminal(), write(tmp_path / "a.txt", TEXT)
    monkeypatch.setattr(sys, "stderr", terminal)
    files = [str(source)], str(tmp_path / "out")
    run_parse(str(model), *files, None, None, False, False, 1, 0, False, False, None)
    assert f"/{len(TEXT.encode())}.0" in terminal.getvalue()
    assert list(conllu_to_docs(tmp_path / "out", trained.vocab))


@pytest.mark.parametrize("option", ["--confidence", "--keep-heads"])
def test_what_needs_a_parser_of_ours(tmp_path: Path, option: str) -> None:
    spacy.blank("xx").to_disk(tmp_path / "model")
    source = write(tmp_path / "a.txt", TEXT)
    said = fails(tmp_path / "model", source, option, status=2)
    assert f"no parser of spacy-nmparse: {option}" in said
    plain = made(tmp_path / "model", source)
    assert words(plain) == TEXT.split()
    assert "1\tShe\t_\t_\t_\t_\t_\t_\t_\t_\n" in plain


def test_words_of_plain_text_are_forgotten(
    trained: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And blank lines take no memory to speak of."""
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
    monkeypatch.undo()
    job = Job(write(tmp_path / "a.conllu", YES + "\n" * 60_000 + YES), tmp_path / "b.conllu")
    tracemalloc.start()
    try:
        counts = parse_file(trained, job, "conllu")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert counts.sentences == 2 and peak < 2_000_000


def numbered(n: int) -> str:
    """CoNLL-U of n sentences, of which every third has an id of its own."""
    ids = (f"# sent_id = s{i}\n" * (i % 3 == 0) + f"# n = {i}\n" for i in range(n))
    return "".join(
        sentence("She _ _ _", f"saw _ _ id={i}", comments=one) for i, one in enumerate(ids)
    )


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
    outputs, n_pieces = [], []
    for n_process, size in ((1, 40), (2, 40), (1, 10**6)):
        monkeypatch.setattr("spacy_nmparse.ud.parse_inputs.SIZE", size)
        monkeypatch.setattr("spacy_nmparse.ud.parse_inputs.WORDS", size // 8)
        jobs, done = [Job(source, tmp_path / f"{n_process}-{size}")], list[int]()
        parser = FileParser(trained, form, n_process=n_process)
        ((job, counts),) = parse_files(parser, jobs, kind=kind, on_done=done.append)
        assert isinstance(counts, Counts) and sum(done) == source.stat().st_size
        outputs.append(job.target.read_bytes())
        n_pieces.append(len(done))
    assert outputs[0] == outputs[1]
    if kind != "conllu" or form == "conllu":  # else documents, of up to 50 sentences, end there
        assert outputs[0] == outputs[2]
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
    sentences, target = numbered(130).rstrip().split("\n\n"), tmp_path / "out"
    for i, name in ((60, " id = d"), (120, ""), (125, " id = e")):
        sentences[i] = f"# newdoc{name}\n{sentences[i]}"
    sentences[60] = f"# of d\n{sentences[60]}"
    source = write(tmp_path / "a.conllu", "\n\n".join(sentences) + "\n\n")
    options = ("--confidence", "--n-process", n_process)
    whole, lines, _ = (
        made(model, source, *options, "-f", form, to=target.with_suffix(f".{form}"))
        if form != "spacy"
        else made(model, source, *options, "-o", target.with_suffix(".spacy"))
        for form in ("conllu", "json", "spacy")
    )
    docs = [json.loads(line) for line in lines.splitlines()]
    assert [doc.get("id") for doc in docs][-3:] == ["d", None, "e"]
    assert [len(doc["sents"]) for doc in docs][-3:] == [60, 5, 5]
    vocab = spacy.blank("xx").vocab
    loaded = list(DocBin().from_disk(target.with_suffix(".spacy")).get_docs(vocab))
    assert [doc.text for doc in loaded] == [doc["text"] for doc in docs]
    again = "".join(doc_to_conllu(doc, confidence=True) for doc in loaded)
    assert re.sub("# sent_id.*", "", again) == re.sub("# sent_id.*", "", whole)
    assert whole.count("HeadConfidence") == 260 and whole.count("# sent_id") == 130
    sentences[100] += "\n3"
    write(source, "\n\n".join(sentences))
    said = fails(model, source, "-f", "json", "--n-process", n_process)
    line = "\n\n".join(sentences[:101]).count("\n") + 1
    assert f"{source}, line {line}: 1 column" in said


@pytest.mark.parametrize(
    "comment", ["# sent_id = \0x", "# sent_id = \0", "# note = # sent_id = \0", "# sent_id"]
)
def test_any_comment_comes_back(model: Path, tmp_path: Path, comment: str) -> None:
    out = made(model, write(tmp_path / "a.conllu", f"{comment}\n{YES}{YES}"))
    sent_id = "" if "\0" in comment and "note" not in comment else "# sent_id = 1\n"
    kept = "" if comment == "# sent_id" else f"{comment}\n"
    assert out.startswith(f"{kept}{sent_id}# text = Yes\n1\tYes")
    assert words(out) == ["Yes", "Yes"] and "# sent_id = 2\n" in out


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("n_process", [1, 2])
def test_a_late_piece_that_is_wrong(model: Path, tmp_path: Path, n_process: int) -> None:
    """Its line is named, what was there stays, and the files around it are parsed."""
    good, out = numbered(60), tmp_path / "out"
    lines = good.split("\n")
    lines[150] = "1\tShe"
    sources = [
        write(tmp_path / "in" / "a.txt", "Yes\n\n" * 30),
        write(tmp_path / "in" / "b.conllu", "\n".join(lines)),
        write(tmp_path / "in" / "c.txt", b"Yes\n\n" * 30 + LATIN),
        write(tmp_path / "in" / "d.conllu", good),
    ]
    targets = [write(out / f"{path.stem}.conllu", "old") for path in sources]
    said = fails(model, *sources, "-o", out, "--force", "--n-process", n_process)
    assert f"{sources[1]}, line 151: 2 columns" in said
    assert f"{sources[2]}, line 62: byte 0xe9" in said
    texts = [path.read_text() for path in targets]
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
    outcomes = [outcome for _, outcome in parse_files(FileParser(nlp, n_process=2), jobs)]
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
    fails(model, folder, "-o", folder / "out")
    made(model, folder / "a.txt", to=folder / "single.conllu")
    bad.write_text("Yes", encoding="utf-8")
    done = run(model, folder, "-o", folder / again)
    assert done.exit_code == 0, done.output
    assert f"{folder}: 2 files that this command wrote earlier: not parsed" in done.stderr
    assert ("there already" in done.stderr) == (again == "out")
    found = sorted(path.relative_to(folder / again) for path in (folder / again).rglob("*.conllu"))
    assert found == [Path("a.conllu"), Path("sub", "b.conllu")]
    with pytest.raises(FileNotFoundError, match="did not write: name files"):
        plan([str(folder / again / "sub")], str(tmp_path / "x"), "conllu")


def test_other_options_parse_again(model: Path, tmp_path: Path) -> None:
    """And so does another model, or another input."""
    source, target = write(tmp_path / "a.txt", TEXT), tmp_path / "a.conllu"
    other = tmp_path / "other"
    shutil.copytree(model, other)
    write(other / "meta.json", (other / "meta.json").read_text().replace("}", " }", 1))
    os.utime(other / "meta.json", (1_000_000_000, 1_000_000_000))
    for one, *options in ([model], [model, "--confidence"], [other, "--confidence"]):
        for message in ("1 of 1 input parsed", "there already"):
            assert message in run(one, source, "-o", target, *options).stderr
    same = write(tmp_path / "b.txt", TEXT.swapcase())
    os.utime(same, ns=(0, source.stat().st_mtime_ns))
    found = made(other, same, "--confidence", to=target)
    assert words(found) == TEXT.swapcase().split()


def test_what_parse_did_not_write_stays(model: Path, tmp_path: Path) -> None:
    """The other inputs are parsed; lines of the record without a file, or deep, are none."""
    sources = [write(tmp_path / f"{name}.txt", TEXT) for name in "ab"]
    a, b = (tmp_path / "out" / f"{name}.conllu" for name in "ab")
    made(model, sources[0], to=a)
    with (tmp_path / "out" / RECORD).open("a") as file:
        file.write('\n{"output": "a.conllu", "stamp": [0, 0]}\n' + "[" * 200_000 + "\n")
    assert f"{a} is there already, made of {sources[0]}" in run(model, sources[0], "-o", a).stderr
    write(a, "corrected by hand")
    for message in ("was changed after it was written", "is there already, and not made by parse"):
        said = fails(model, *sources, "-o", a.parent)
        assert f"{a} {message}: --force overwrites it" in said
        assert a.read_text() == "corrected by hand"
        assert words(b.read_text(encoding="utf-8")) == TEXT.split()
        (tmp_path / "out" / RECORD).unlink()
        b.unlink()
    fails(model, "-", "-o", a, input=TEXT)
    assert words(made(model, "-", "--force", to=a, input=TEXT)) == TEXT.split()


def test_lines_are_documents(model: Path, tmp_path: Path) -> None:
    """Each with an id of its own, and the file comes back byte for byte."""
    lines = "She saw the cat .  \n\n \nYes\n\n\nSleep  !\n"
    source = write(tmp_path / "a.txt", lines)
    out = made(model, source, "--input-format", "lines")
    assert re.findall("# newdoc id = (.*)", out) == ["a-1", "a-2", "a-3"] and "newpar" not in out
    assert restored(out) == lines
    out = made(model, source, "--input-format", "lines", "-f", "json")
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

    def failing(docs: list[Doc]) -> Any:
        if any("London" in doc.text for doc in docs):
            raise RuntimeError("no more\nLondon")
        return predict(docs)

    monkeypatch.setattr(parser, "predict", failing)  # it is the fixture's
    nlp.max_length = 100
    write(tmp_path / "a", "Yes\nI like London\n" + "cat " * 40 + "\nSleep !\n")
    DocBin(docs=map(trained.make_doc, ("Yes London", "Yes"))).to_disk(tmp_path / "b.spacy")
    for source, kind, expected in (("a", "lines", [0, 1, 1, 0]), ("b.spacy", None, [1, 0])):
        for form in ("json", "conllu"):
            job = Job(tmp_path / source, tmp_path / f"out.{form}")
            strict = FileParser(nlp, form, n_process=n_process)
            ((_, error),) = parse_files(strict, [job], kind=kind)
            assert isinstance(error, Exception)  # without the option, as before
            patient = FileParser(nlp, form, n_process=n_process, keep_going=True)
            ((_, counts),) = parse_files(patient, [job], kind=kind)
            assert isinstance(counts, Counts)
            assert (counts.documents, counts.failed) == (len(expected), sum(expected))
        loaded = [json.loads(line) for line in (tmp_path / "out.json").read_text().splitlines()]
        assert ["parse_error" in doc for doc in loaded] == expected
        text = (tmp_path / "out.conllu").read_text()
        assert text.count("# parse_error = RuntimeError: no more London\n") == 1
        heads = [{row[6] for row in rows_of(doc)} for doc in text.strip().split("\n\n")]
        assert [head == {"_"} for head in heads] == expected


# Inputs and outputs that are no regular files, or closed


@pytest.mark.skipif(os.name != "posix", reason="makes FIFOs")
@pytest.mark.parametrize("kind", ["text", "conllu"])
def test_an_input_that_is_no_file(model: Path, tmp_path: Path, kind: str) -> None:
    """As of ``parse <(cat text)``: it is read once, and parsed each time."""
    fifo, target = tmp_path / "fifo", tmp_path / "out.conllu"
    os.mkfifo(fifo)
    for text in (TEXT, TEXT.swapcase()):
        conllu = made(model, write(tmp_path / "a.txt", text))
        content = conllu if kind == "conllu" else text
        Thread(target=fifo.write_text, args=(content,), daemon=True).start()
        assert words(made(model, fifo, "--input-format", kind, to=target)) == text.split()
    said = fails(model, fifo, "--input-format", "spacy", status=2)
    assert f"A .spacy file cannot come from {fifo}" in said
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
    run_parse(
        str(model), [str(source)], str(target), None, None, False, False, 1, 0, False, False, None
    )
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


@pytest.mark.skipif(os.name != "posix", reason="makes FIFOs and links")
@pytest.mark.parametrize("kind", ["fifo", "link", "folder"])
def test_a_record_that_is_no_file(model: Path, tmp_path: Path, kind: str) -> None:
    """It is neither waited for nor written into."""
    source, mine = write(tmp_path / "a.txt", TEXT), write(tmp_path / "mine", "as it was")
    record = tmp_path / "out" / RECORD
    record.parent.mkdir()
    make = {"fifo": os.mkfifo, "link": lambda path: path.symlink_to(mine), "folder": os.mkdir}
    make[kind](record)
    said = fails(model, source, "-o", tmp_path / "out" / "a.conllu")
    assert f"{record} is no regular file: remove it" in said
    assert mine.read_text() == "as it was" and list(record.parent.iterdir()) == [record]
