"""Do the tests notice when the code is wrong? Small errors are put in, one at a time.

    python -m tests.mutants
    python -m tests.mutants greedy-kept beam-sum
    python -m tests.mutants --list

``mutants.yml`` names each error: a file, a text that occurs there once, what to put in its place,
and the tests that are to notice. The error is made in a temporary copy of the checkout, its module
alone is compiled there (with GCC or Clang), and the tests run until one fails, for at most LIMIT
seconds. At the end the tests that have failed run without the errors: there they must pass.

Prints one line for each mutant: the test that has caught it and the seconds, or SURVIVED. The exit
status is 1 if one survived, or if its text or its tests are not there any more. It needs Linux or
macOS, and a git checkout whose modules are compiled.
"""

from __future__ import annotations

import argparse
import queue
import shlex
import shutil
import sys
import sysconfig
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import srsly

from tests.copies import ROOT, failed, files, python

MUTANTS = Path(__file__).with_suffix(".yml")
LIMIT = 300  # seconds for the tests of one mutant
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
CAUGHT, SURVIVED, FAULTY = "caught", "SURVIVED", "FAULTY"
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


@dataclass(frozen=True)
class Result:
    """What became of a mutant: CAUGHT, SURVIVED or FAULTY; how; and the test that has failed."""

    mutant: Mutant
    verdict: str
    how: str
    seconds: float
    test: str | None = None

    def __str__(self) -> str:
        return f"{self.verdict:<8} {self.mutant.name:<34} {self.seconds:4.0f} s  {self.how}"


def read() -> list[Mutant]:
    """The mutants of ``mutants.yml``."""
    content: dict[str, Any] = srsly.read_yaml(MUTANTS)
    return [
        Mutant(**{**one, "tests": tuple(shlex.split(content["tests"][one["tests"]]))})
        for one in content["mutants"]
    ]


class Copy:
    """A copy of the checkout, with its compiled modules and entry points, to make errors in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        made = [*ROOT.glob(f"src/**/*{SUFFIX}"), *ROOT.glob("src/*.egg-info/*")]
        compiled = [str(path.relative_to(ROOT)) for path in made if path.is_file()]
        for file in (*files(), *compiled):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, folder / file)

    def try_out(self, mutant: Mutant) -> Result:
        """Make the error, run its tests, and take it back."""
        start = time.perf_counter()
        path = self.folder / mutant.file
        # The headers that have mutants are compiled into this module.
        source = path.with_name("products.pyx") if path.suffix == ".h" else path
        places = (path, source.with_suffix(SUFFIX))
        before = {place: place.read_bytes() for place in places if place.exists()}
        text = path.read_text(encoding="utf8")
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf8")
        status: int | None = 0
        if source.suffix == ".pyx":
            module = ".".join(source.relative_to(self.folder / "src").with_suffix("").parts)
            status, output = self.run("-c", COMPILE, module)
        compiled = status == 0
        if compiled:
            status, output = self.run("-m", "pytest", "-x", "-q", *mutant.tests)
        for one, content in before.items():
            one.write_bytes(content)
        seconds = time.perf_counter() - start
        tests = failed(output)
        if not compiled:
            return Result(mutant, FAULTY, f"cannot be compiled:\n{output[-2000:]}", seconds)
        if status is None:
            return Result(mutant, CAUGHT, f"the limit of {LIMIT} seconds", seconds)
        if status < 0:
            return Result(mutant, CAUGHT, f"signal {-status} ends the process", seconds)
        if status == 1 and tests:
            return Result(mutant, CAUGHT, tests[0], seconds, tests[0])
        if status:
            return Result(mutant, FAULTY, f"pytest ends with {status}:\n{output[-2000:]}", seconds)
        return Result(mutant, SURVIVED, " ".join(mutant.tests), seconds)

    def run(self, *arguments: str, limit: float | None = LIMIT) -> tuple[int | None, str]:
        """Run Python in the copy; see ``copies.python``."""
        variables = {"PYTHONDONTWRITEBYTECODE": "1"}
        return python(self.folder, *arguments, variables=variables, limit=limit)


def try_all(mutants: Sequence[Mutant], jobs: int) -> list[Result]:
    """Try mutants out, ``jobs`` at a time; print what becomes of them."""
    copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()

    def one(mutant: Mutant) -> Result:
        copy = copies.get()
        try:
            result = copy.try_out(mutant)
        finally:
            copies.put(copy)
        print(result, flush=True)
        return result

    with tempfile.TemporaryDirectory(prefix="mutants") as folder:
        for i in range(jobs):
            copies.put(Copy(Path(folder, str(i))))
        with ThreadPoolExecutor(jobs) as pool:
            results = list(pool.map(one, mutants))
        tests = sorted({result.test for result in results if result.test})
        if not tests:
            return results
        status, output = copies.get().run("-m", "pytest", "-q", *tests, limit=None)
    broken = failed(output)
    if status and not broken:
        raise SystemExit(f"Without the errors, pytest ends with {status}:\n{output[-3000:]}")
    for i, result in enumerate(results):
        if result.test in broken:
            how = f"{result.test} fails without it, too"
            results[i] = Result(result.mutant, FAULTY, how, result.seconds)
            print(results[i], flush=True)
    return results


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="of mutants; without: all")
    parser.add_argument("--list", action="store_true", help="only print their names and files")
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=2, help="mutants at a time")
    options = parser.parse_args(arguments)
    mutants = read()
    if unknown := {*options.names} - {mutant.name for mutant in mutants}:
        parser.error(f"there is no mutant {', '.join(sorted(unknown))}")
    chosen = [mutant for mutant in mutants if mutant.name in options.names or not options.names]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.name:<34} {mutant.file}")
        return 0
    faults = [(mutant.name, fault) for mutant in chosen if (fault := mutant.fault(ROOT))]
    for name, fault in faults:
        print(f"{name}: {fault}")
    if faults:
        return 1
    start = time.perf_counter()
    results = try_all(chosen, options.jobs)
    seconds = time.perf_counter() - start
    counts = Counter(result.verdict for result in results)
    told = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    print(f"{len(results)} mutants: {told} ({seconds:.0f} s)")
    return int(counts[CAUGHT] < len(results))


if __name__ == "__main__":
    sys.exit(main())
