"""Summaries of benchmarks' runs, and the tables of the pages that are made from them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks import report, tables
from benchmarks.common import ROOT
from benchmarks.tables.common import marked
from benchmarks.titles import difference
from tests.test_benchmarks import toy_run, write_run


def test_pages_are_current() -> None:
    """If this fails: python -m benchmarks.report --write"""
    used = set()
    for page, current in report.pages().items():
        text = page.read_text(encoding="utf-8")
        assert current == text, f"{page.relative_to(ROOT)} is not current"
        # a line that begins with a comment is HTML, not Markdown
        assert not re.search(r"(?m)^<!-- figure", text), page
        used |= {found[2] for found in report.MARKED.findall(text)}
    assert used == set(tables.TABLES), "tables that no page shows"


def test_filled() -> None:
    figure = "<!-- figure: crossing-recall-ratio -->"
    before = f"a {figure}old<!-- end -->\n<!-- table: swaps -->x<!-- end -->"
    after = report.filled(before)
    assert re.fullmatch(
        f"a {figure}" + r"[\d.]+ to [\d.]+ times<!-- end -->\n"
        r"<!-- table: swaps -->\n\n(\|.*\|\n)+\n<!-- end -->",
        after,
    )
    assert report.filled(after) == after
    with pytest.raises(ValueError, match="No table 'nonsense'"):
        report.filled("<!-- table: nonsense --><!-- end -->")


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs, results = tmp_path / "runs", tmp_path / "results"
    for seed in (1, 2):
        write_run(toy_run("spacy_parser", seed, [5, 5], "test"), runs / "accuracy")
        write_run(toy_run("better", seed, [5 + seed, 5 + seed], "test"), runs / "accuracy")
    command = ["accuracy", "--runs", str(runs), "--results", str(results)]
    assert report.main(command) == 0
    assert "UD_Toy-Test better: seeds none -> [1, 2]" in capsys.readouterr().out
    summary = read(results / "accuracy.json")
    score = summary["systems"]["UD_Toy-Test"]["better"]["test"]["las_all"]
    assert score == {"mean": 0.65, "sd": pytest.approx(0.070711), "seeds": [0.6, 0.7]}
    (key,) = summary["comparisons"]["UD_Toy-Test"]
    assert key == "better - spacy_parser, las_all, test"
    found = summary["comparisons"]["UD_Toy-Test"][key]
    assert (found["n_seeds"], found["difference"], found["low"]) == (2, 15.0, 15.0)
    # a further seed is added
    assert report.main(command) == 0 and not capsys.readouterr().out
    write_run(toy_run("better", 3, [7, 7], "test"), runs / "accuracy")
    assert report.main(command) == 0
    assert "better: seeds [1, 2] -> [1, 2, 3]" in capsys.readouterr().out
    # without its runs a system keeps its summary, but not what others are compared with
    for path in runs.glob("*/*/*.json"):
        path.unlink()
    write_run(toy_run("better", 3, [7, 7], "test"), runs / "accuracy")
    before = (results / "accuracy.json").read_bytes()
    assert report.main([*command, "--write"]) == 1
    refused = capsys.readouterr()
    assert "better: seeds [1, 2, 3] -> [3]" in refused.err and not refused.out
    assert (results / "accuracy.json").read_bytes() == before
    assert report.main([*command, "--replace"]) == 0
    shown = capsys.readouterr().out
    assert "better: seeds [1, 2, 3] -> [3]" in shown and "not compared" in shown
    again = read(results / "accuracy.json")
    assert again["comparisons"]["UD_Toy-Test"] == {}
    systems = again["systems"]["UD_Toy-Test"]
    assert systems["spacy_parser"] == summary["systems"]["UD_Toy-Test"]["spacy_parser"]
    assert systems["better"]["seeds"] == [3]
    assert report.main(["nonsense"]) == 1
    assert "No benchmark 'nonsense'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seed", "right", "loses"), [(2, [6, 6], False), (1, [6, 6], True), (2, [5, 5], False)]
)
def test_report_keeps_what_is_known(
    seed: int, right: list[int], loses: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A seed can be added to those that are known; another result of a known one is refused."""
    command = ["accuracy", "--runs", str(tmp_path / "runs"), "--results", str(tmp_path)]
    write_run(toy_run("one", 1, [5, 5], "test"), tmp_path / "runs" / "accuracy")
    assert report.main(command) == 0
    write_run(toy_run("one", seed, right, "test"), tmp_path / "runs" / "accuracy")
    assert report.main(command) == loses
    assert ("nothing was written" in capsys.readouterr().err) == loses


def test_report_writes_all_summaries_or_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result that is no system's is known by its file's name."""
    runs = tmp_path / "runs"
    command = ["--runs", str(runs), "--results", str(tmp_path / "results")]
    (runs / "swaps").mkdir(parents=True)
    for words, status in ((1, 0), (2, 1)):
        (runs / "swaps" / "UD_X-dev.json").write_text(json.dumps({"words": words}), "utf-8")
        if status:
            write_run(toy_run("one", 1, [5, 5], "test"), runs / "accuracy")
        assert report.main(command) == status
    assert "swaps: UD_X-dev" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["swaps.json"]
    assert read(tmp_path / "results" / "swaps.json") == {"UD_X-dev": {"words": 1}}


def test_differences_beyond_chance_are_marked() -> None:
    """Those that pass Holm's correction among all the differences of a table are in bold."""

    def cell(p: float) -> str:
        found = {"difference": 1.0, "low": 0.5, "high": 1.5, "p_bootstrap": p}
        return difference(found, "; more")

    rows = [["a", cell(0.0125), cell(0.9)], ["b", cell(0.02), cell(0.016)]]
    shown = [[text.partition(" ")[0] for text in row] for row in marked(rows)]
    assert shown == [["a", "**+1.00**", "+1.00"], ["b", "**+1.00**", "**+1.00**"]]
    assert marked(rows)[0][1] == "**+1.00** (0.50 to 1.50), p = 0.01; more"
    # with one more difference in the table, 0.0125 is above 0.05 / 5
    assert marked([*rows, ["c", cell(0.8), ""]])[0][1] == rows[0][1]


@pytest.mark.parametrize(
    "page", [page for page in report.PAGES if "beyond chance" in page.read_text("utf-8")]
)
def test_beyond_chance_is_said_once(page: Path) -> None:
    """Pages that use the words lead to what they mean."""
    text = page.read_text(encoding="utf-8")
    assert "results.md#beyond-chance)" in text or "\n## Beyond chance\n" in text


def test_report_of_timings(tmp_path: Path) -> None:
    """Ratios compare the timings of a repetition."""

    def timing(*seconds: float) -> dict[str, Any]:
        rates = {"median": 100, "min": 90, "max": 110}
        return {"words": 100, "cpu_seconds": seconds, "seconds": seconds, "words_per_second": rates}

    groups = {
        "default": {"parse": {"a": timing(1, 2, 3), "spacy_b": timing(2, 4, 9)}},
        "switch": {"parse": {"a": timing(1, 1, 1), "spacy_b": timing(1, 2, 4)}},
    }
    folder = tmp_path / "speed"
    folder.mkdir()
    text = json.dumps({"results": {"0": groups}})
    (folder / "UD_X.json").write_text(text, encoding="utf-8")
    found = report.summarize_speed(folder)["UD_X"]["results"]["0"]
    rates = {"median": 100, "min": 90, "max": 110}
    assert found["default"]["parse"]["a"] == {
        "words_per_second": rates,
        "times": {"spacy_b": [2, 2, 3]},
    }
    assert found["switch"]["parse"]["a"]["times"] == {"spacy_b": [2, 4, 9]}
    assert found["switch"]["parse"]["spacy_b"]["times"] == {"spacy_b": [2, 2, 2.25]}


def test_report_of_exhaustive_search(tmp_path: Path) -> None:
    (tmp_path / "arc_eager.md").write_text(
        "`python -m tests.exhaustive --max-n 2`:\n\n"
        "| system | options and gold | n | trees | configurations | triples | wrong | wrong |\n"
        "| --- | --- | --: | --: | --: | --: | --: | --: |\n"
        "| arc_eager | unlabelled, partial gold | 2 | 1 of 8 | 14 | 104 | 0 | (1: 0.9 %) |\n",
        encoding="utf-8",
    )
    assert report.summarize_exhaustive(tmp_path) == {
        "arc_eager": [
            {
                "command": "python -m tests.exhaustive --max-n 2",
                "rows": [["unlabelled, partial gold", 2, "1 of 8", 14, 104, 0, "(1: 0.9 %)"]],
            }
        ]
    }
