"""Commands of nmparse, run in this process, and Python in another one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from spacy_nmparse.cli import nmparse

ROOT = Path(__file__).resolve().parent.parent


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the folder of the checkout; variables: of its environment."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **variables},
        cwd=ROOT,
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
