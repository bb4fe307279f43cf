"""Commands of nmparse, run in this process; Python in another one; folders made once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from spacy_nmparse.cli import nmparse

ROOT = Path(__file__).resolve().parent.parent


def python(*arguments: str, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, that of the checkout; variables: of its environment."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **variables},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def run(*arguments: str | Path, **options: Any) -> Result:
    """What a command prints, and its exit status; options: of ``CliRunner.invoke``."""
    return CliRunner().invoke(nmparse, list(map(str, arguments)), **options)


def succeed(*arguments: str | Path, **options: Any) -> Result:
    """The same of a command that must succeed."""
    done = run(*arguments, **options)
    assert done.exit_code == 0, done.output
    return done


def told(done: Result) -> str:
    """All that a command has printed as one line, without the frames of its messages."""
    return " ".join(done.output.replace("│", " ").split())


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that one of pytest's processes fills for all of them."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder, made, ended = root / name, root / f"{name}.made", root / f"{name}.ended"
    try:
        folder.mkdir()
    except FileExistsError:
        while not ended.exists():
            time.sleep(0.1)
    else:
        try:
            make(folder)
            made.touch()
        finally:
            ended.touch()
    assert made.exists(), f"{name} could not be made: another test tells why"
    return folder
