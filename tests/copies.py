"""Copies of the checkout whose extensions are built in another way, and Python run on them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMPILED = ("*.pyx", "*.pxd", "*.h")
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


def files() -> list[str]:
    """The files of the checkout, but for what git ignores, from its root."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def build(name: str, variables: Mapping[str, str]) -> Path:
    """Copy the checkout to the folder of this name in ``build``, and compile there what is new,
    with variables that setup.py reads; the folder.

    Raises SystemExit, with the end of the compiler's messages, where that fails.
    """
    target = ROOT / "build" / name
    sources = [ROOT / "setup.py"]
    for pattern in COMPILED:
        sources += (ROOT / "src").rglob(pattern)
    newest = max(path.stat().st_mtime for path in sources)
    built = target / "built"
    is_built = built.exists() and built.stat().st_mtime > newest
    for file in files():
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        # Files keep their times, so that only what has changed is compiled again.
        shutil.copy2(ROOT / file, target / file)
    if is_built:
        return target
    command = ["setup.py", "--quiet", "build_ext", "--inplace"]
    status, output = python(
        target, *command, f"--parallel={os.cpu_count() or 1}", variables=variables
    )
    if status:
        raise SystemExit(output[-6000:])
    built.touch()
    return target


def python(
    folder: Path,
    *arguments: str,
    variables: Mapping[str, str] | None = None,
    limit: float | None = None,
) -> tuple[int | None, str]:
    """Run Python on the sources of a copy, or of the checkout. Its exit status (None: it ran past
    the limit, in seconds), and what it has printed."""
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder / "src"), **(variables or {})},
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        status: int | None = None
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # and what it has started
            process.wait()
        printed.seek(0)
        return status, printed.read().decode("utf8", "replace")


def failed(output: str) -> list[str]:
    """The tests that fail in pytest's summary."""
    return FAILED.findall(output)
