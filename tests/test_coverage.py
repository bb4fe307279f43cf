"""What ``python -m tests.coverage`` makes of gcov's and coverage.py's counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import coverage

PYX = '''\
"""Text,
more of it."""

cdef readonly int n  # of words
def f():  # 5
    """Short."""
    return [
        1,  # 8
    ]
'''


def test_only_statements_count() -> None:
    assert coverage.statements(PYX) == {5, 7, 8}


def test_table_and_missed_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "build" / "coverage"
    (target / "spacy_nmparse" / "a").mkdir(parents=True)
    (target / "spacy_nmparse" / "a" / "x.pyx").write_text(PYX)
    (target / "spacy_nmparse" / "a" / "y.py").write_text("1\n2\n")
    lines = {
        "spacy_nmparse/a/x.pyx": {4: True, 5: True, 7: False, 900: True},
        "spacy_nmparse/a/y.py": {1: True, 2: True},
        "spacy_nmparse/gone.pxd": {1: False},
    }
    (target / coverage.FOUND).write_text(json.dumps(lines))
    found = coverage.read(target)
    assert found == {
        "spacy_nmparse/a/x.pyx": {5: True, 7: False},
        "spacy_nmparse/a/y.py": {1: True, 2: True},
    }
    assert list(coverage.table(found))[1:] == [
        "| spacy_nmparse/a | Cython | 2 | 1 | 50.0 |",
        "| spacy_nmparse/a | Python | 2 | 2 | 100.0 |",
        "| all | Cython | 2 | 1 | 50.0 |",
        "| all | Python | 2 | 2 | 100.0 |",
    ]
    monkeypatch.setattr(coverage, "ROOT", tmp_path)
    assert coverage.main(["--show", "spacy_nmparse/a/x.pyx"]) == 0
    assert capsys.readouterr().out == "spacy_nmparse/a/x.pyx:7:     return [\n"
