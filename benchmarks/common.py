"""Shared by benchmarks: folders, command lines, records, and running the programs of spaCy."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from spacy_nmparse.cli.records import machine, versions

ROOT = Path(__file__).resolve().parent.parent
#: What benchmarks measured, one file a run; not under version control.
RUNS = ROOT / "benchmarks" / "runs"
#: The summaries of the runs.
RESULTS = ROOT / "benchmarks" / "results"
#: Models and logs.
WORK = ROOT / "training"


def command_line(description: str | None) -> argparse.ArgumentParser:
    """Begin a benchmark's command line; the description is the module's docstring."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def complain(name: str, error: object) -> int:
    """Print what went wrong in a benchmark; the exit status of a failure."""
    print(f"{name}: {error}", file=sys.stderr)
    return 1


Main = Callable[[Sequence[str] | None], int | None]


def program(main: Main) -> Callable[..., int]:
    """Make a program of a module's `main`: it takes arguments, by default those of the process,
    prints what goes wrong, and returns the exit status."""

    @wraps(main)
    def checked(argv: Sequence[str] | None = None) -> int:
        try:
            return main(argv) or 0
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            return complain(Path(main.__code__.co_filename).stem, error)

    return checked


def show(text: str) -> None:
    """Print text that may hold any character."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    print(text)


def record() -> dict[str, Any]:
    """The versions of programs, with the commit of this one, and the machine, for a result's
    record."""
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True
    ).stdout.strip()
    return {"versions": {**versions(), "commit": commit or "unknown"}, "machine": machine()}


def run(command: list[str], log: Path, prefix: str, folder: Path | None = None) -> float:
    """Run a Python command, showing its output and keeping it in a file.

    Args:
        command: The arguments after the Python interpreter.
        log: The file to append the output to.
        prefix: What to write before each line shown.
        folder: Where to run it; by default where the log is.

    Returns:
        The seconds it took.

    Raises:
        RuntimeError: If the command fails.
    """
    env = {
        **os.environ,
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8",
        "ANSI_COLORS_DISABLED": "1",
    }
    start = time.perf_counter()
    tail: list[str] = []
    with (
        log.open("a", encoding="utf-8") as file,
        subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=env,
            cwd=folder or log.parent,
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            file.write(line)
            file.flush()
            print(f"{prefix} {line.rstrip()}", flush=True)
            tail = [*tail[-14:], line]
    if process.returncode:
        raise RuntimeError(
            f"{' '.join(command[:3])} ended with status {process.returncode}; log: {log}\n"
            + "".join(tail)
        )
    return time.perf_counter() - start


def model_and_gold(pair: str) -> tuple[str, Path]:
    """The two sides of MODEL=GOLD. Raises a ValueError where there is no second one."""
    model, _, gold = pair.partition("=")
    if not gold:
        raise ValueError(f"{pair}: write MODEL=GOLD.conllu.")
    return model, Path(gold)


def write_setting(value: Any) -> str:
    """Write a setting's value so that `parse_settings` and `spacy train` read it back.

    Args:
        value: A value of JSON.

    Returns:
        The text.
    """
    if isinstance(value, str):
        try:
            json.loads(value)
        except json.JSONDecodeError:
            return value
    return json.dumps(value)
