"""Copies of the checkout whose extensions are built in another way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMPILED = ("*.pyx", "*.pxd", "*.h")


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
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    command.append(f"--parallel={os.cpu_count() or 1}")
    done = subprocess.run(
        command,
        cwd=target,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    built.touch()
    return target
