"""The command line, through spaCy's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FALL = "2 0 6 5 3 2"  # I saw Jack and Jill fall


def run(*arguments: str) -> subprocess.CompletedProcess:
    root = Path(__file__).resolve().parent.parent
    command = [sys.executable, "-m", "spacy", "nmparse", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)


def test_a_derivation() -> None:
    done = run("oracle", "arc_eager", FALL, "-o", "nonmonotonic_left", "--oracle", "static")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "  1  [] [1 2 3 4 5 6 ROOT]  SHIFT  (SHIFT 0)"
    assert "LEFT-ARC 0" in lines[1] and lines[1].split("]")[2].split()[0] == "LEFT-ARC"
    assert lines[-1] == f"heads: {FALL}"


def test_non_local_arcs_as_json() -> None:
    done = run("oracle", "nl_covington", "0 1 1 5 1", "--oracle", "static", "--json")
    assert done.returncode == 0, done.stderr
    *steps, last = (json.loads(line) for line in done.stdout.splitlines())
    moves = [f"{step['action'][0]}{step['action'][1]}" for step in steps]
    assert moves == [  # FG18, Figure 4
        "SHIFT1", "RIGHT-ARC1", "SHIFT1", "RIGHT-ARC2", "SHIFT1", "SHIFT1", "LEFT-ARC1",
        "RIGHT-ARC3", "SHIFT1",
    ]  # fmt: skip
    assert last == {"heads": [0, 1, 1, 5, 1]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no_system", "0"), "no_system"),
        (("arc_eager", "0 x"), "x"),
        (("arc_eager", "2 1"), "cycle"),
        (("arc_eager", "0", "--oracle", "eager"), "eager"),
        (("arc_eager", "0", "-o", "nonsense"), "nonsense"),
        (("arc_eager", "0", "-o", "single_root=0"), "single_root"),
        (("arc_eager", ""), "one word"),
        (("arc_eager", "7"), "6"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], message: str) -> None:
    done = run("oracle", *arguments)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert message in done.stderr
