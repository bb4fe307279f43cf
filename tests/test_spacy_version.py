"""With a spaCy outside the supported range, what needs it fails when imported, and says why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from spacy_nmparse import spacy_version

ROOT = Path(__file__).resolve().parent.parent
MESSAGE = "works with spaCy >=3.8.7,<3.9; installed is spaCy"


def run(tmp_path: Path, version: str, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program where spaCy's metadata tell another version."""
    folder = tmp_path / f"spacy-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: spacy\nVersion: {version}\n", encoding="utf-8"
    )
    paths = (tmp_path, ROOT, os.environ.get("PYTHONPATH", ""))
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, map(str, paths)))},
        capture_output=True,
        text=True,
        check=False,
    )


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


@pytest.mark.parametrize(
    "program",
    (
        "import spacy_nmparse.pipe",
        "import spacy_nmparse.scorers.operations",
        "import spacy_nmparse.search.greedy",
        "import spacy_nmparse.analysis",
        "import spacy; spacy.blank('en').add_pipe('nm_parser')",
    ),
)
def test_import_fails(tmp_path: Path, program: str) -> None:
    done = run(tmp_path, "3.7.5", program)
    assert done.returncode == 1
    assert f"ImportError: spacy-nmparse {spacy_version.__version__} {MESSAGE} 3.7.5" in done.stderr


def test_others_go_on(tmp_path: Path) -> None:
    program = """
import spacy

assert len(spacy.blank("en")("A text .")) == 3  # loads our entry points
from spacy_nmparse import systems

systems.create("arc_eager").initial(1)
print("done")
"""
    done = run(tmp_path, "3.7.5", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "done"
    assert done.stderr.count(f"RuntimeWarning: spacy-nmparse {spacy_version.__version__}") == 1


def test_the_files_agree() -> None:
    """What pip installs, what is compiled against, and what is checked."""
    wanted = Requirement(f"spacy{spacy_version.spacy_range()}")
    for name in ("setup.cfg", "pyproject.toml"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        found = [
            line.strip().strip('",') for line in lines if line.strip(' "').startswith("spacy>")
        ]
        assert [Requirement(line) for line in found] == [wanted], name
