"""The package's own wheel, made of what is installed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, PathDistribution, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.models import index
from spacy_nmparse.ud.packages import own_wheel


def install(folder: Path, name: str = "spacy_nmparse-1.2.dist-info") -> PathDistribution:
    """What `pip install` of a wheel of one module leaves in a folder."""
    pytest.importorskip("wheel")
    info = folder / name
    files = {
        folder / "nothing_but_this.py": "ANSWER = 42\n",
        folder / "__pycache__" / "nothing_but_this.pyc": "x",
        info / "METADATA": "Metadata-Version: 2.1\nName: spacy-nmparse\nVersion: 1.2\n",
        info / "WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\n"
        "Tag: py2-none-any\nTag: py3-none-any\n",
        info / "INSTALLER": "pip\n",
    }
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    names = [path.relative_to(folder).as_posix() for path in files]
    (info / "RECORD").write_text("".join(f"{one},,\n" for one in [*names, f"{name}/RECORD"]))
    return PathDistribution(info)


def test_it_can_be_installed(tmp_path: Path) -> None:
    made = own_wheel(tmp_path, install(tmp_path / "site"))
    assert made.name == "spacy_nmparse-1.2-py2.py3-none-any.whl"
    with zipfile.ZipFile(made) as file:
        names = set(file.namelist())
    info = "spacy_nmparse-1.2.dist-info"
    assert names == {
        "nothing_but_this.py",
        *(f"{info}/{n}" for n in ("METADATA", "WHEEL", "RECORD")),
    }
    command = ["-m", "pip", "install", "--no-index", "--no-deps", "--target", str(tmp_path / "new")]
    subprocess.run([sys.executable, *command, str(made)], check=True)
    assert (tmp_path / "new" / "nothing_but_this.py").is_file()


def test_what_was_not_installed_from_a_wheel(tmp_path: Path) -> None:
    installed = install(tmp_path)
    place = tmp_path / "spacy_nmparse-1.2.dist-info" / "direct_url.json"
    place.write_text('{"url": "file:///x", "dir_info": {"editable": true}}')
    with pytest.raises(RuntimeError, match=r"not installed from a wheel.*pip wheel --no-deps \."):
        own_wheel(tmp_path, installed)


def needed(package: str, found: frozenset[str] = frozenset()) -> frozenset[str]:
    """The packages that an installed one needs without extras, those that they need, and so on."""
    try:
        lines = requires(package) or ()
    except PackageNotFoundError:
        return found
    for one in map(Requirement, lines):
        name = canonicalize_name(one.name)
        if name not in found and (one.marker is None or one.marker.evaluate({"extra": ""})):
            found = needed(name, found | {name})
    return found


def test_what_spacy_does_not_bring_is_documented() -> None:
    own = {canonicalize_name(Requirement(one).name) for one in requires("spacy-nmparse") or ()}
    others = (needed("spacy-nmparse") & own) - needed("spacy") - {"spacy"}
    assert others == {"scipy-openblas32"}
    page = Path(__file__).parents[2] / "docs" / "pipelines.md"
    assert "offline where spaCy and `scipy-openblas32` are" in page.read_text(encoding="utf-8")


def test_the_index_names_each_wheel_once(tmp_path: Path) -> None:
    for model in ("a", "b"):
        (tmp_path / model / "dist").mkdir(parents=True)
        (tmp_path / model / "dist" / f"{model}-1.whl").touch()
        (tmp_path / model / "dist" / "own-1.whl").touch()
    page = index(tmp_path)
    assert page.count("<a ") == 3 == page.count(".whl</a>")
    assert 'href="b/dist/b-1.whl">b-1.whl<' in page
