"""``nmparse parse --sort doubt``: sentences by their least sure word."""

from __future__ import annotations

from pathlib import Path

from spacy.language import Language

from spacy_nmparse.ud.conllu import read_rows
from spacy_nmparse.ud.doubt import by_doubt
from tests.commands import run
from tests.validator import format_errors


def row(number: int, head: int, misc: str) -> str:
    return f"{number}\tw{number}\t_\tX\t_\t_\t{head}\tdep\t_\t{misc}\n"


def test_the_least_sure_word_decides(tmp_path: Path) -> None:
    """Known words do not count; sentences keep their ids, and say where they are from."""
    one, other = tmp_path / "one.conllu", tmp_path / "other.conllu"
    sure, known = "SpaceAfter=No|DepConfidence=0.900", "DepConfidence=0.001|Confirmed=Yes"
    one.write_text(
        "# newdoc id = d\n# sent_id = a\n" + row(1, 0, sure) + row(2, 1, known) + "\n"
        "# sent_id = b\n" + row(1, 0, "_") + "\n"
    )
    other.write_text("# sent_id = c\n" + row(1, 0, sure) + row(2, 1, "DepConfidence=0.125") + "\n")
    text = "".join(by_doubt([("one", one), ("an\nother", other)]))
    assert format_errors(text, level=1) == []
    found = list(read_rows(text))
    assert [one.value("sent_id") for one in found] == ["c", "a", "b"]
    assert [one.value("file") for one in found] == ["an␊other", "one", "one"]
    assert [one.value("least_sure") for one in found] == ["0.125 2 w2", "0.900 1 w1", "1.000"]
    assert [row[9] for row in found[1].rows] == [sure, known] and "newdoc" not in text


def test_the_command(trained: Language, tmp_path: Path) -> None:
    """All sentences of all inputs once, in one file; what cannot be read leaves the others."""
    model, out = tmp_path / "model", tmp_path / "out.conllu"
    trained.to_disk(model)
    first, second, bad = (tmp_path / name for name in ("a.txt", "b.conllu", "c.conllu"))
    first.write_text("She saw the cat .\nSleep !\n")
    known = row(1, 0, "Confirmed=Yes").replace("dep", "root")
    second.write_text("# sent_id = x\n" + known + row(2, 1, "_") + "\n")
    parse = ("parse", model, first, second, "--sort", "doubt", "--keep-heads")
    done = run(*parse, "-o", out)
    assert done.exit_code == 0, done.output
    found = list(read_rows(out))
    sure = [float((one.value("least_sure") or "").split()[0]) for one in found]
    assert sure == sorted(sure) and len(found) == 3
    assert {one.value("file") for one in found} == {str(first), str(second)}
    (kept,) = [one for one in found if one.value("sent_id") == "x"]
    assert "Confirmed=Yes" in kept.rows[0][9].split("|")
    assert run(*parse).stdout == out.read_text()
    assert "exists already" in run(*parse, "-o", out).stderr
    bad.write_text("1 A\n")
    done = run(*parse, bad, "-o", out, "--force")
    assert done.exit_code == 1 and "c.conllu" in done.stderr and len(list(read_rows(out))) == 3
    assert "--format" in run(*parse, "-o", tmp_path / "x.json").stderr
