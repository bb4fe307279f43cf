"""Commands of nmparse, run in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from spacy_nmparse.cli import nmparse


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
