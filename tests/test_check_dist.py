"""`scripts/check_dist.py` sees what an sdist or a wheel lacks, and what they should not hold."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from scripts import check_dist

TRACKED = {
    ".ci/run",
    ".gitignore",
    "setup.py",
    "spacy_nmparse/__init__.py",
    "spacy_nmparse/py.typed",
    "spacy_nmparse/systems/state.pxd",
    "spacy_nmparse/systems/state.pyi",
    "spacy_nmparse/systems/state.pyx",
}
SDIST = {name for name in TRACKED if not name.startswith(".")} | {"PKG-INFO"}
WHEEL = {name for name in TRACKED if name.startswith("spacy_nmparse")} | {
    "spacy_nmparse/systems/state.cpython-312-x86_64-linux-gnu.so",
    "spacy_nmparse-0.1.0.dist-info/METADATA",
}


def test_complete() -> None:
    assert check_dist.check_sdist(SDIST, TRACKED) == []
    assert check_dist.check_wheel(WHEEL, TRACKED) == []


@pytest.mark.parametrize("name", sorted(SDIST - {"PKG-INFO"}))
def test_missing_in_sdist(name: str) -> None:
    assert check_dist.check_sdist(SDIST - {name}, TRACKED) == [f"sdist: {name} is missing"]


@pytest.mark.parametrize("name", sorted(name for name in WHEEL if "dist-info" not in name))
def test_missing_in_wheel(name: str) -> None:
    faults = check_dist.check_wheel(WHEEL - {name}, TRACKED)
    if name.endswith(".so"):
        assert faults == ["wheel: spacy_nmparse/systems/state.pyx is not compiled"]
    else:
        assert faults[0] == f"wheel: {name} is missing"


def test_superfluous() -> None:
    generated = "spacy_nmparse/systems/state.c"
    assert check_dist.check_sdist(SDIST | {generated}, TRACKED) == [
        f"sdist: {generated} is generated"
    ]
    assert check_dist.check_wheel(WHEEL | {generated, "tests/__init__.py"}, TRACKED) == [
        f"wheel: {generated} is generated",
        "wheel: tests/__init__.py is not of the package",
    ]


def test_archives(tmp_path: Path) -> None:
    sdist, wheel = tmp_path / "a-0.1.0.tar.gz", tmp_path / "a-0.1.0-py3-none-any.whl"
    with tarfile.open(sdist, "w:gz") as archive:
        member = tarfile.TarInfo("a-0.1.0/folder/file.py")
        archive.addfile(member, io.BytesIO())
    with zipfile.ZipFile(wheel, "w") as other:
        other.writestr("a/", "")
        other.writestr("a/file.py", "")
    assert check_dist.sdist_files(sdist) == {"folder/file.py"}
    assert check_dist.wheel_files(wheel) == {"a/file.py"}
