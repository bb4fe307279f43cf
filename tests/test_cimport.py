"""Other packages can cimport the systems: an extension elsewhere calls the cost functions."""

from __future__ import annotations

import importlib.util
import random
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from spacy_nmparse import systems
from spacy_nmparse.systems import Action, Gold
from spacy_nmparse.systems.walk import random_walk

SOURCE = Path(__file__).parent / "cimport_example" / "best_move.pyx"
# Cython finds the .pxd files of installed packages by itself; those of editable installs, whose
# folder may not be on sys.path, by the include path.
SETUP = """
from pathlib import Path

import spacy_nmparse
from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    name="example",
    ext_modules=cythonize(
        [Extension("best_move", ["best_move.pyx"])],
        include_path=[str(Path(spacy_nmparse.__file__).parents[1])],
    ),
)
"""
MOVES = ("SHIFT", "REDUCE", "LEFT-ARC", "RIGHT-ARC")
OPTIONS = (
    {},
    {"nonmonotonic_left": True},
    {"nonmonotonic_reduce": True},
    {"nonmonotonic_left": True, "nonmonotonic_reduce": True},
    {"nonmonotonic_left": True, "nonmonotonic_reduce": True, "single_root": True},
)
GOLDS = (
    [0],
    [1, 1, 1, 2],
    [1, 4, 1, 2, 4, 4],
    [0, 0, 2, 2, 2],
    [None, 0, 4, 2, 4, None],
)


@pytest.fixture(scope="module")
def best_move(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    folder = tmp_path_factory.mktemp("cimport")
    shutil.copy(SOURCE, folder)
    (folder / "setup.py").write_text(SETUP, encoding="utf-8")
    # In a folder of its own: the cimports must be found in the installed package.
    done = subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    found = [*folder.glob("best_move*.so"), *folder.glob("best_move*.pyd")]
    assert len(found) == 1
    spec = importlib.util.spec_from_file_location("best_move", found[0])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(o) or "monotonic")
def test_costs(best_move: ModuleType, options: dict[str, bool]) -> None:
    system = systems.create("arc_eager", **options)
    generator = random.Random(0)
    for heads in GOLDS * 5:
        gold = Gold(heads)
        state = system.initial(len(heads))
        while not state.is_final:
            costs = system.costs(state, gold)
            expected = tuple(int(costs.get(Action(move), -1)) for move in MOVES)
            assert best_move.costs(system, state, gold) == expected
            system.apply(state, generator.choice(system.actions(state)))


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(o) or "monotonic")
def test_search(best_move: ModuleType, options: dict[str, bool]) -> None:
    system = systems.create("arc_eager", **options)
    for heads in GOLDS:
        gold = Gold(heads)
        state = system.initial(len(heads))
        least = system.loss(state, gold)
        assert best_move.parse(system, state, gold) == 0
        assert state.is_final
        wrong = sum(g is not None and g != h for g, h in zip(heads, state.heads, strict=True))
        assert wrong == least


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("count", "a count is out of bounds"),
        ("stack", "the stack and the places"),
        ("rebuffer", "put back into the buffer"),
        ("head", "a head is no word"),
        ("label", "a label is none"),
        ("kids", "the lists of dependents"),
        ("cycle", "form a cycle"),
        ("start", "a preset sentence start"),
        ("crossed", "an arc crosses a sentence start"),
    ],
)
def test_random_walk_finds_what_is_wrong(best_move: ModuleType, what: str, message: str) -> None:
    system = systems.create("arc_eager")
    state = system.initial(3)
    random_walk(system, state.copy(), 0)
    best_move.spoil(state, what)
    with pytest.raises(AssertionError, match=message):
        random_walk(system, state, 0)
