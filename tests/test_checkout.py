"""The package's own wheel; and what works in a folder with sources that are not compiled."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from setuptools import Distribution, Extension

import spacy_nmparse
from scripts import demo
from spacy_nmparse.ud.whole_pipeline import CONFIGS
from tests.commands import ROOT, made_once, python

#: Without what `pip install -e` adds to find the sources that are tested.
ALONE = "import sys; sys.meta_path[:] = [m for m in sys.meta_path if 'Editable' not in str(m)]; "
PACKAGE = Path(spacy_nmparse.__file__).parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `project run wheel` makes."""
    if not (ROOT / "setup.py").is_file():
        pytest.skip("setup.py is not here")

    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(demo, "OWN_WHEELS", folder / "made")
            demo.make_own_wheel()

    (made,) = (made_once(tmp_path_factory, "wheel", make) / "made").iterdir()
    return made


def test_the_wheel_has_what_the_package_has(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    kinds = (".py", ".pyx", ".pxd", ".pyi", ".h", ".so", ".pyd", ".cfg", ".js", ".css", ".html")
    for place, folder in (("spacy_nmparse", PACKAGE), ("spacy_nmparse/configs", CONFIGS)):
        files = [one.relative_to(folder) for one in folder.rglob("*.*") if one.suffix in kinds]
        assert files and {f"{place}/{one.as_posix()}" for one in files} <= names
    assert not [name for name in names if name.endswith((".c", ".cpp"))]


def test_the_wheel_beside_sources_that_are_not_compiled(wheel: Path, tmp_path: Path) -> None:
    """Python finds the folder's modules first: what needs compiled ones says so, and spaCy's own
    commands go on. Elsewhere the wheel's modules and configs are found."""
    site, sources = tmp_path / "site", tmp_path / "sources"
    command = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(site)]
    subprocess.run([sys.executable, *command, str(wheel)], check=True)
    away = shutil.ignore_patterns("*.so", "*.pyd", "*.c", "*.cpp", "__pycache__")
    shutil.copytree(PACKAGE, sources / "spacy_nmparse", ignore=away)
    path = {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    program = "from spacy_nmparse.ud.whole_pipeline import CONFIGS; print(*CONFIGS.glob('nm*.cfg'))"
    done = python("-c", program, cwd=tmp_path, **path)
    assert str(site / "spacy_nmparse" / "configs" / "nm_parser.cfg") in done.stdout, done.stderr
    for module in ("systems", "layers", "pipe", "ud"):
        done = python("-c", f"{ALONE}import spacy_nmparse.{module}", cwd=sources, **path)
        assert "is not compiled" in done.stderr and 'pip install -e "' in done.stderr
        assert str(sources / "spacy_nmparse") in done.stderr
    run = f"{ALONE}from runpy import run_module; run_module('spacy', run_name='__main__')"
    done = python("-c", run, "info", cwd=sources, **path)
    assert done.returncode == 0, done.stderr
    done = python("-c", run, "nmparse", "--help", cwd=sources, **path)
    assert done.returncode and 'pip install -e "' in done.stderr


def test_what_is_compiled_is_not_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless a source is newer; files of Cython, which pip may install later, do not count."""
    if not (ROOT / "setup.py").is_file():
        pytest.skip("setup.py is not here")
    command = runpy.run_path(str(ROOT / "setup.py"))["BuildExtensions"](Distribution())
    monkeypatch.chdir(tmp_path)
    command.extensions = [Extension("spacy_nmparse.a", ["spacy_nmparse/a.pyx"])]
    made = Path(command.get_ext_filename("spacy_nmparse.a"))
    made.parent.mkdir()
    source = Path("spacy_nmparse", "a.pyx")
    source.touch()
    assert not command.is_current()
    made.touch()
    for seconds, is_current in ((-1, True), (1, False)):
        then = made.stat().st_mtime + seconds
        os.utime(source, (then, then))
        assert command.is_current() is is_current


def test_what_ci_runs_once_more_is_there() -> None:
    names = re.findall(r"\btests/[\w/.]+", (ROOT / ".ci" / "run").read_text("utf-8"))
    assert len(names) > 3 and all((ROOT / name).exists() for name in names), names
