"""Do the tests notice when the code is wrong? Small errors are put in, one at a time.

    python -m tests.mutants
    python -m tests.mutants greedy-kept beam-sum

``mutants.yml`` names each error: a file, a text that occurs there once, what to put in its place,
and the tests that are to notice. The error is made in a temporary copy of the checkout, its module
alone is compiled there (with GCC or Clang), and the tests run until one fails, for at most LIMIT
seconds. At the end the tests that have failed run without the errors: there they must pass.

Prints one line for each mutant: how it was caught and the seconds, or SURVIVED. The exit status is
1 if one survived, or if its text or its tests are not there any more. It needs Linux or macOS, and
a git checkout whose modules are compiled.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import srsly

ROOT = Path(__file__).resolve().parents[1]
MUTANTS = Path(__file__).with_suffix(".yml")
LIMIT = 300  # seconds for the tests of one mutant
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
# Optimized a little, without data for debuggers: that takes a third of the time.
COMPILE = """
import sys
from Cython.Build import cythonize
from setuptools import setup
from setup import DIRECTIVES, MODULES, extension
one = extension(sys.argv[1], MODULES[sys.argv[1]])
one.extra_compile_args += ["-O1", "-g0"]
translated = cythonize([one], compiler_directives=DIRECTIVES, force=True)
setup(script_args=["--quiet", "build_ext", "--inplace"], ext_modules=translated)
"""


@dataclass(frozen=True)
class Mutant:
    """One error: in a file, ``old`` becomes ``new``; tests: what pytest is called with."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def fault(self, root: Path) -> str | None:
        """Why the error cannot be made in the sources below a folder; None: it can."""
        count = (root / self.file).read_text(encoding="utf8").count(self.old)
        return None if count == 1 else f"its text occurs {count} times in {self.file}"


def read() -> list[Mutant]:
    """The mutants of ``mutants.yml``."""
    content: dict[str, Any] = srsly.read_yaml(MUTANTS)
    return [
        Mutant(**{**one, "tests": tuple(shlex.split(content["tests"][one["tests"]]))})
        for one in content["mutants"]
    ]


def copy_checkout(folder: Path) -> None:
    """Copy what git does not ignore, and the compiled modules."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    made = ROOT.glob(f"spacy_nmparse/**/*{SUFFIX}")
    for path in [*(ROOT / name for name in listed.splitlines()), *made]:
        if path.is_file():
            target = folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
    shutil.copytree(ROOT / "configs", folder / "spacy_nmparse" / "configs")


def python(folder: Path, *arguments: str, limit: float | None = None) -> tuple[int | None, str]:
    """Run Python on the sources of a copy. Its exit status (None: it ran past the limit, in
    seconds), and what it has printed."""
    variables = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env={**os.environ, **variables},
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


def try_out(mutant: Mutant, folder: Path) -> str | None:
    """Make the error in a copy, run its tests, and take it back.

    Returns: The test that has failed, or how else the error was noticed; None: it was not.

    Raises:
        SystemExit: The error cannot be compiled, or its tests cannot be run.
    """
    path = folder / mutant.file
    # The headers that have mutants are compiled into these modules.
    modules = {".h": "products.pyx", ".pxd": "revision.pyx"}
    source = path.with_name(modules.get(path.suffix, path.name))
    before = {one: one.read_bytes() for one in (path, source.with_suffix(SUFFIX)) if one.exists()}
    text = path.read_text(encoding="utf8")
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf8")
    try:
        if source.suffix == ".pyx":
            module = ".".join(source.relative_to(folder).with_suffix("").parts)
            status, output = python(folder, "-c", COMPILE, module)
            if status:
                raise SystemExit(f"{mutant.name} cannot be compiled:\n{output[-2000:]}")
        status, output = python(folder, "-m", "pytest", "-x", "-q", *mutant.tests, limit=LIMIT)
    finally:
        for one, content in before.items():
            one.write_bytes(content)
    if status == 0:
        return None
    if status is None or status < 0:
        return f"the limit of {LIMIT} seconds" if status is None else f"signal {-status}"
    if status > 1 or not failed(output):
        raise SystemExit(f"{mutant.name}: pytest ends with {status}:\n{output[-2000:]}")
    return failed(output)[0]


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    mutants = {mutant.name: mutant for mutant in read()}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of mutants; without: all")
    names = parser.parse_args(arguments).names
    if unknown := {*names} - {*mutants}:
        parser.error(f"there is no mutant {', '.join(sorted(unknown))}")
    chosen = [mutants[name] for name in names or mutants]
    if faults := [f"{one.name}: {one.fault(ROOT)}" for one in chosen if one.fault(ROOT)]:
        raise SystemExit("\n".join(faults))
    survived, tests = 0, set()
    with tempfile.TemporaryDirectory(prefix="mutants") as name:
        copy_checkout(Path(name))
        for mutant in chosen:
            start = time.perf_counter()
            caught = try_out(mutant, Path(name))
            seconds = time.perf_counter() - start
            print(f"{mutant.name:<34} {seconds:4.0f} s  {caught or 'SURVIVED'}", flush=True)
            survived += caught is None
            tests |= {caught} if caught and "::" in caught else set()
        if tests:
            status, output = python(Path(name), "-m", "pytest", "-q", *sorted(tests))
            if status:
                raise SystemExit(f"Without the errors, too, tests fail:\n{output[-3000:]}")
    print(f"{len(chosen)} mutants: {survived} survived")
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main())
