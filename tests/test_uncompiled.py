"""A checkout whose Cython modules are not compiled, as after an installation without -e."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "*.c", "*.cpp", "__pycache__")
    shutil.copytree(ROOT / "spacy_nmparse", folder / "spacy_nmparse", ignore=ignored)
    shutil.copytree(ROOT / "configs", folder / "configs")
    return folder


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "command",
    [
        ("-c", "from spacy_nmparse import systems"),
        ("-c", "import spacy; spacy.blank('xx').add_pipe('nm_parser')"),
        ("-m", "spacy", "train", "configs/nm_parser.cfg", "--paths.train", "a", "--paths.dev", "b"),
    ],
)
def test_what_needs_a_compiled_module_says_what_to_do(
    checkout: Path, command: tuple[str, ...]
) -> None:
    done = run(checkout, *command)
    assert done.returncode
    said = " ".join(done.stderr.split())
    assert f"is not compiled in {checkout / 'spacy_nmparse'}" in said
    assert "python -m pip install -e ." in said and "another folder" in said


def test_the_rest_works(checkout: Path) -> None:
    """The README's demo command runs spaCy in a checkout, after an installation elsewhere."""
    code = "import spacy, spacy_nmparse; spacy.blank('xx').add_pipe('tagger')"
    assert not run(checkout, "-c", f"{code}; print(spacy_nmparse.__file__)").returncode
