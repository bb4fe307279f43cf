"""Without the lab, and its lines in setup.cfg, there is a package whose own tests pass."""

from __future__ import annotations

import configparser
import shutil
from pathlib import Path

import pytest

from tests.mutants import python

ROOT = Path(__file__).resolve().parent.parent
#: What makes systems and parsers, each of those that are left; not all that is tested of them.
TESTS = (
    *("tests/systems", "tests/test_imports.py", "--ignore=tests/systems/test_exhaustive.py"),
    *("-k", "not (test_replay.py or fuzz or seed or long) or plain-plain"),
)
PARSERS = (
    "tests/pipe/test_overfitting.py::test_stored[swap_parser]",
    "tests/pipe/test_overfitting.py::test_stored[nl_covington_parser]",
    "tests/learning/test_gradients.py::test_gradients_behind_the_scorer[nonmonotonic]",
)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package and the tests without what is about the lab, installed in a folder."""
    folder = tmp_path_factory.mktemp("no_lab")
    away = shutil.ignore_patterns("lab", "__pycache__", "*.c", "*.cpp", "cimport_example")
    shutil.copytree(ROOT / "spacy_nmparse", folder / "spacy_nmparse", ignore=away)
    shutil.copytree(ROOT / "configs", folder / "spacy_nmparse" / "configs", ignore=away)
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=away)
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copy(ROOT / "setup.cfg", folder)
    config = configparser.ConfigParser(delimiters="=")
    config.optionxform = str  # type: ignore[assignment, method-assign]
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    metadata = folder / "spacy_nmparse-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: spacy-nmparse\nVersion: 0\n")
    lines = []
    for group, points in config["options.entry_points"].items():
        kept = [point for point in points.split("\n") if point and ".lab." not in point]
        lines += [f"[{group}]", *kept]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def run(copy: Path, *command: str) -> str:
    status, output = python(copy, *command)
    assert status == 0, output[-6000:]
    return output


def test_the_lab_is_gone(copy: Path) -> None:
    program = (
        "from spacy_nmparse import systems; import spacy_nmparse.cli; "
        "print(spacy_nmparse.__file__, *systems.names(), *systems.options('arc_eager'), "
        "*systems.create('arc_eager').oracles, "
        "*(f'nmparse:{one}' for one in spacy_nmparse.cli.Commands().list_commands(None)))"
    )
    place, *names = run(copy, "-c", program).split()
    assert Path(place).is_relative_to(copy)
    gone = {*("arc_swift", "two_planar", "repairs", "unshift", "root_first", "paper", "combined")}
    gone |= {"nmparse:lattice", "nmparse:oracle"}
    assert {"arc_eager", "nl_covington", "labelled_reduce", "nmparse:trace"} <= set(names)
    assert not gone & set(names)


@pytest.mark.parametrize("tests", [TESTS, PARSERS], ids=["systems", "parsers"])
def test_the_tests_of_the_core_pass(copy: Path, tests: tuple[str, ...]) -> None:
    run(copy, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests)
