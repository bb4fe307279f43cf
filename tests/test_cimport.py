"""Other packages can cimport the systems: extensions elsewhere call the cost functions, another
brings a system with a move of its own."""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest

import spacy_nmparse
from spacy_nmparse import systems
from spacy_nmparse.analysis.derivation import derive_actions
from spacy_nmparse.analysis.page import render_page
from spacy_nmparse.lab.walk import random_walk
from spacy_nmparse.systems import Action, Gold
from spacy_nmparse.systems.system import with_face
from tests.commands import ROOT, made_once, python

SOURCES = Path(__file__).parent / "cimport_example"
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
        [Extension(path.stem, [path.name]) for path in sorted(Path().glob("*.pyx"))],
        include_path=[str(Path(spacy_nmparse.__file__).parents[1])],
    ),
)
"""
ENTRY_POINTS = """
[spacy_nmparse_systems]
outside = outside:Outside
"""
# What somebody does who has both packages installed.
TRAINING = """
import pickle
import random
import sys

import spacy

from spacy_nmparse import systems
from spacy_nmparse.analysis.derivation import derive_gold
from spacy_nmparse.analysis.page import render_page
from spacy_nmparse.lab.oracle_command import read_options
from spacy_nmparse.systems import Gold
from tests.commands import ROOT, made_once, python
from tests.naive.trees import golds
from tests.pipe.common import DOCUMENTS, bare, gold_doc, overfitted, tree

assert "outside" in systems.names()
system, known = systems.create("outside"), systems.create("arc_hybrid")
assert system.moves == ("RIGHT-ARC", "LEFT-ARC", "SHIFT", "LEFT-ARC-SHIFT")
assert pickle.loads(pickle.dumps(system)).options == system.options
for gold in (Gold(*one) for one in golds(4, partial=True)):
    state, same = system.initial(4), known.initial(4)
    while not state.is_final:
        assert system.loss(state, gold) == known.loss(same, gold)
        costs = known.costs(same, gold)
        own = {action: cost for action, cost in system.costs(state, gold).items()
               if action.move != "LEFT-ARC-SHIFT"}
        assert own == costs
        action = random.choice(list(costs))
        for new in system.actions(state):
            if new.move == "LEFT-ARC-SHIFT":
                after = state.copy()
                system.apply(after, new)
                cost = system.loss(after, gold) - system.loss(state, gold)
                assert system.costs(state, gold)[new] == system.cost(state, gold, new) == cost
        system.apply(state, action)
        known.apply(same, action)

# Options of any type, as a command line gives them.
options = read_options("outside", ["share=0.5", "compound=allowed", "most=2", "single_root"])
assert options == {"share": 0.5, "compound": "allowed", "most": 2, "single_root": True}
assert systems.create("outside", **options).options == {**system.options, **options}
gold = Gold([1, 1, 3, 1])
for one, wanted in ((system, True), (systems.create("outside", **options), False)):
    assert ("LEFT-ARC-SHIFT" in [a.move for a in one.derivation(gold, "static")]) == wanted

# Numbers of its own in the configuration, which copies have, too.
once = systems.create("outside", most=1)
state = once.initial(4)
for move in ("SHIFT", "LEFT-ARC-SHIFT"):
    before = state.copy()
    once.apply(state, systems.Action(move))
assert systems.Action("LEFT-ARC-SHIFT") in once.actions(before.copy())
for one in (state, state.copy()):
    assert systems.Action("LEFT-ARC") in once.actions(one)
    assert systems.Action("LEFT-ARC-SHIFT") not in once.actions(one)

# What is taken, or means nothing, is refused.
import outside
for bring, arguments in (
    (outside.bring, ("outside.made", 2)), (outside.bring, ("stack.depth", 2)),
    (outside.bring, ("new", 0)), (outside.bring_word, ("S",)), (outside.bring_word, ("xy",)),
):
    try:
        bring(*arguments)
    except ValueError as error:
        assert arguments[0] in str(error)
    else:
        raise AssertionError(arguments)

block = {
    "@misc": "spacy_nmparse.System.v1", "name": "outside", "options": {"share": 0.9},
}
nlp = overfitted(system=block, oracle="static")
nlp.to_disk(sys.argv[1])
again = spacy.load(sys.argv[1])
for trees in DOCUMENTS:
    gold = gold_doc(nlp.vocab, trees)
    assert tree(again(bare(gold))) == tree(gold)

# The page shows the move, its colour, and what it does.
page = render_page(derive_gold(system, Gold([1, 1, 3, 1]), "static", "a b c d".split()))
assert "LEFT-ARC-SHIFT" in page and "#be185d" in page and "takes its place" in page
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


def build(folder: Path) -> None:
    for source in SOURCES.glob("*.pyx"):
        shutil.copy(source, folder)
    shutil.copy(ROOT / "spacy_nmparse/systems/arc_hybrid.pyx", folder / "copied.pyx")
    (folder / "setup.py").write_text(SETUP, encoding="utf-8")
    command = ("setup.py", "--quiet", "build_ext", "--inplace", "--parallel=2")
    done = python(*command, cwd=folder, CFLAGS="-O0 -g0")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of its own, where the cimports must be found in the installed package."""
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    return made_once(tmp_path_factory, "cimport", build)


def load(built: Path, name: str) -> ModuleType:
    found = [*built.glob(f"{name}*.so"), *built.glob(f"{name}*.pyd")]
    assert len(found) == 1
    spec = importlib.util.spec_from_file_location(name, found[0])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def best_move(built: Path) -> ModuleType:
    return load(built, "best_move")


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


def test_labelled_costs(built: Path) -> None:
    """Of a gold tree that no system has numbered; as the page shows it."""
    left_arc = load(built, "left_arc")
    system = systems.create("arc_eager", labels=("a", "b", "ROOT"))
    state = system.initial(2)
    assert left_arc.left_arc_costs(system, state, Gold([1, 1])) == []
    system.apply(state, Action("SHIFT"))
    assert left_arc.left_arc_costs(system, state, Gold([1, 1], ["b", "ROOT"])) == [1, 0, 1]
    page = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
    assert (SOURCES / "left_arc.pyx").read_text(encoding="utf-8").split("\n", 1)[1] in page


def test_a_copied_system(built: Path) -> None:
    """Without the .pxd file beside it, as another package has it."""
    copied = with_face(load(built, "copied").ArcHybrid)
    assert copied().moves == ("SHIFT", "LEFT-ARC", "RIGHT-ARC")


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("loss", "costless has costs and no loss: give each move its rest, or set c.rest or "),
        ("cost", "costless: LEFT-ARC has no cost, and others have: give add_move its cost or "),
    ],
)
def test_a_system_with_some_costs(
    built: Path, monkeypatch: pytest.MonkeyPatch, missing: str, message: str
) -> None:
    monkeypatch.setattr(systems, "_registered", dict(systems._registered))
    cls = with_face(load(built, "costless").Costless)
    systems.register("costless", cls)
    with pytest.raises(TypeError, match=re.escape(message)):
        systems.create("costless", missing=missing)
    with pytest.raises(TypeError, match=re.escape(message)):
        cls(missing=missing).initial(3)


def test_a_system_without_costs(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can be followed and drawn; as the page shows it."""
    monkeypatch.setattr(systems, "_registered", dict(systems._registered))
    systems.register("moves_only", load(built, "moves_only").MovesOnly)
    system = systems.create("moves_only", labels=("a", "b"))
    assert not system.has_costs and system.oracles == ()
    moves = ["SHIFT", "LEFT-ARC", "SHIFT", "LEFT-ARC", "SHIFT"]
    actions = [Action(move, 1, "a" if "ARC" in move else None) for move in moves]
    derivation = derive_actions(system, actions, ["She", "sleeps"])
    assert derivation.heads == [1, 1] and "stack" in render_page(derivation)
    for ask in (system.costs, system.loss):
        with pytest.raises(TypeError, match="moves_only has no costs"):
            ask(system.initial(2), Gold([1, 1]))
    page = (ROOT / "docs" / "add_a_system.md").read_text(encoding="utf-8")
    assert (SOURCES / "moves_only.pyx").read_text(encoding="utf-8").split("\n", 1)[1] in page


def test_a_package_brings_a_system(built: Path, tmp_path: Path) -> None:
    """It is found by its entry point, trained, saved and loaded."""
    metadata = built / "outside-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    path = os.pathsep.join([str(built), str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = python("-c", TRAINING, str(tmp_path / "model"), PYTHONPATH=path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


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


def test_every_module_is_compiled() -> None:
    package = Path(spacy_nmparse.__file__).parent
    sources = sorted(package.rglob("*.pyx"))
    assert len(sources) > 50
    for source in sources:
        parts = source.relative_to(package).with_suffix("").parts
        importlib.import_module(".".join(["spacy_nmparse", *parts]))
