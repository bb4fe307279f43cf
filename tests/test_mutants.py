"""The errors of ``python -m tests.mutants``, which makes them and runs the tests itself."""

from __future__ import annotations

import srsly

from tests.mutants import MUTANTS, ROOT, failed, read

ALL = read()


def test_errors_can_be_made() -> None:
    assert not {mutant.name: mutant.fault(ROOT) for mutant in ALL if mutant.fault(ROOT)}
    assert not [mutant.name for mutant in ALL if mutant.old == mutant.new]


def test_their_tests_are_there() -> None:
    for mutant in ALL:
        paths = [one for one in mutant.tests if one.startswith("tests/")]
        assert paths and all((ROOT / path).exists() for path in paths), mutant.name


def test_names_and_areas() -> None:
    assert len({mutant.name for mutant in ALL}) == len(ALL) >= 40
    areas = srsly.read_yaml(MUTANTS)
    assert {one["tests"] for one in areas["mutants"]} == {*areas["tests"]}


def test_what_fails_is_read_from_the_summary() -> None:
    summary = """..F.E
SKIPPED [1] tests/pipe/test_a.py:20: could not import 'transformers'
FAILED tests/a.py::test_one[a + b, c] - AssertionError: FAILED tests/b.py::test_two
FAILED tests/a.py::test_three
ERROR tests/c.py
"""
    tests = ["tests/a.py::test_one[a + b, c]", "tests/a.py::test_three", "tests/c.py"]
    assert failed(summary) == tests
