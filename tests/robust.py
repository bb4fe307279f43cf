"""Run the tests that train or score as other machines would: do they hold there, too?

    python -m tests.robust
    python -m tests.robust --setting cpu-plain --setting noise-3 -- tests/pipe -k overfitting

runs pytest once for each setting: 1, 2 and 8 threads of NumPy's matrix products; each class of
processors that this one can be (NMPARSE_CPU); and noise in the last bit of new models' weights
(tests/noise), five seeds. What follows -- is for pytest; without a file or folder, all of tests/ is
run but for LEFT_OUT. Prints the tests that fail under each setting; the exit status is 1 if any
does.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from spacy_nmparse.layers.cpu import CLASSES
from tests.copies import ROOT

#: Tests without floating point, or of texts, files and commands alone.
LEFT_OUT = (
    "tests/systems",
    "tests/test_benchmarks.py",
    "tests/test_cimport.py",
    "tests/test_commands.py",
    "tests/test_compare.py",
    "tests/test_configs.py",
    "tests/test_fuzz_systems.py",
    "tests/test_mutants.py",
    "tests/test_readme.py",
    "tests/test_results.py",
    "tests/test_sanitize.py",
    "tests/test_scripts.py",
    "tests/test_spacy_version.py",
)
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+(?:\[.*?\])?)", re.MULTILINE)


@dataclass
class Setting:
    """One way of running the tests."""

    name: str
    variables: dict[str, str] = field(default_factory=dict)


def threads(number: int) -> dict[str, str]:
    return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(number))


SETTINGS = [
    *(Setting(f"threads-{number}", threads(number)) for number in (1, 2, 8)),
    *(Setting(f"cpu-{name}", {**threads(1), "NMPARSE_CPU": name}) for name in CLASSES),
    *(Setting(f"noise-{seed}", {**threads(1), "NMPARSE_NOISE": str(seed)}) for seed in range(1, 6)),
]


def run(setting: Setting, arguments: list[str]) -> tuple[int, str]:
    """The exit status of pytest under a setting, and what it prints."""
    paths = [str(ROOT / "src"), str(ROOT / "tests" / "noise")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "slow or not slow", *arguments],
        cwd=ROOT,
        env={**os.environ, **setting.variables, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def failed(output: str) -> list[str]:
    """The tests that fail in pytest's summary."""
    return FAILED.findall(output)


def selection(arguments: list[str]) -> list[str]:
    """What pytest is called with."""
    if any((ROOT / one.split("::")[0]).exists() for one in arguments):
        return arguments
    return [*arguments, *(f"--ignore={path}" for path in LEFT_OUT), "tests"]


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [setting.name for setting in SETTINGS]
    parser.add_argument("--setting", action="append", choices=names, help="all, if none is named")
    parser.add_argument("--log", type=Path, help="a folder for what pytest prints")
    parser.add_argument("pytest", nargs="*", help="after --: what pytest is called with")
    options = parser.parse_args(arguments)
    tests = selection(options.pytest)
    found: dict[str, list[str]] = {}
    for setting in SETTINGS:
        if setting.name not in (options.setting or names):
            continue
        start = time.perf_counter()
        status, output = run(setting, tests)
        if options.log:
            options.log.mkdir(parents=True, exist_ok=True)
            (options.log / f"{setting.name}.log").write_text(output, encoding="utf8")
        tests_ = failed(output)
        if status and not tests_:  # no test failed, but pytest did
            tests_ = [f"pytest: exit status {status}"]
            print(output[-2000:])
        found[setting.name] = tests_
        last = output.strip().splitlines()[-1:]
        seconds = time.perf_counter() - start
        print(f"{setting.name}: {''.join(last)} ({seconds:.0f} s)", flush=True)
        for name in tests_:
            print(f"    {name}", flush=True)
    print("\n| Setting | Failed |\n| --- | ---: |")
    for name, tests_ in found.items():
        print(f"| {name} | {len(tests_)} |")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
