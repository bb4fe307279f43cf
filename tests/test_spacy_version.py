"""With a spaCy outside the supported range, what needs it fails when imported, and says why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from spacy_nmparse import spacy_version
from tests.commands import ROOT, python

MESSAGE = "works with spaCy >=3.8.7,<3.9; installed is spaCy"


@pytest.mark.parametrize("version", ("3.8.6", "3.9.0.dev0", "4.0.0"))
def test_unsupported(tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy_version, "version", lambda name: version)
    with pytest.raises(ImportError, match=f"{MESSAGE} {version}") as raised:
        spacy_version.require_spacy()
    assert 'pip install "spacy>=3.8.7,<3.9"' in str(raised.value)
    with pytest.warns(RuntimeWarning, match=MESSAGE):
        spacy_version.warn_of_spacy()


@pytest.mark.parametrize("version", ("3.8.7", "3.8.18", "3.8.100"))
def test_supported(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy_version, "version", lambda name: version)
    spacy_version.require_spacy()


PROGRAM = """
import spacy

assert len(spacy.blank("en")("A text .")) == 3  # loads our entry points
from spacy_nmparse import systems

systems.create("arc_eager").initial(1)
for statement in (
    "import spacy_nmparse.pipe",
    "import spacy_nmparse.scorers.operations",
    "import spacy_nmparse.search.greedy",
    "import spacy_nmparse.analysis",
    "spacy.blank('en').add_pipe('nm_parser')",
):
    try:
        exec(statement)
    except ImportError as error:
        print(error)
"""


def test_imports_fail_and_others_go_on(tmp_path: Path) -> None:
    """Where spaCy's metadata tell another version."""
    folder = tmp_path / "spacy-3.7.5.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: spacy\nVersion: 3.7.5\n")
    paths = (tmp_path, ROOT, os.environ.get("PYTHONPATH", ""))
    done = python("-c", PROGRAM, PYTHONPATH=os.pathsep.join(filter(None, map(str, paths))))
    assert done.returncode == 0, done.stderr
    told = f"spacy-nmparse {spacy_version.__version__} {MESSAGE} 3.7.5"
    assert [line.startswith(told) for line in done.stdout.splitlines()] == [True] * 5
    assert done.stderr.count(f"RuntimeWarning: {told}") == 1


def test_the_files_agree() -> None:
    """What pip installs, what is compiled against, and what is checked."""
    wanted = Requirement(f"spacy{spacy_version.spacy_range()}")
    for name in ("setup.cfg", "pyproject.toml"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        found = [
            line.strip().strip('",') for line in lines if line.strip(' "').startswith("spacy>")
        ]
        assert [Requirement(line) for line in found] == [wanted], name
