"""The errors of ``python -m tests.mutants``, which makes them and runs the tests itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import srsly

import spacy_nmparse
from tests.mutants import FAILED, MUTANTS, ROOT, Mutant, main, read

SOURCES = Path(spacy_nmparse.__file__).parents[1]  # a wheel has them, too
ALL = read()


def test_errors_can_be_made() -> None:
    assert not {mutant.name: mutant.fault(SOURCES) for mutant in ALL if mutant.fault(SOURCES)}
    assert not [mutant.name for mutant in ALL if mutant.old == mutant.new]


def test_their_tests_are_there() -> None:
    for mutant in ALL:
        paths = [one for one in mutant.tests if one.startswith("tests/")]
        assert paths and all((ROOT / path).exists() for path in paths), mutant.name


def test_there_are_many_with_names_of_their_own() -> None:
    assert len({mutant.name for mutant in ALL}) == len(ALL) >= 40


def test_no_area_is_idle() -> None:
    areas = srsly.read_yaml(MUTANTS)
    assert {one["tests"] for one in areas["mutants"]} == {*areas["tests"]}


def test_a_text_that_has_gone_is_told(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Mutant("gone", "tests/mutants.py", "no such" + " text", "", ("tests/test_mutants.py",))
    monkeypatch.setattr("tests.mutants.read", lambda: [one])
    assert main(["gone"]) == 1
    assert "gone: its text occurs 0 times in tests/mutants.py\n" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["unknown"])
    assert "there is no mutant unknown" in capsys.readouterr().err


def test_list(capsys: pytest.CaptureFixture) -> None:
    assert main(["--list", ALL[0].name]) == 0
    assert capsys.readouterr().out.split() == [ALL[0].name, ALL[0].file]


def test_what_fails_is_read_from_the_summary() -> None:
    summary = "FAILED tests/a.py::test_one[a + b, c] - assert 1 - 2\nERROR tests/b.py\n"
    assert FAILED.findall(summary) == ["tests/a.py::test_one[a + b, c]", "tests/b.py"]
