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
import sys
import time
from pathlib import Path

from benchmarks.formats import page_table
from spacy_nmparse.layers.cpu import CLASSES
from tests.copies import ROOT, failed, python

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


def threads(number: int) -> dict[str, str]:
    return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(number))


#: The environment of each way of running the tests.
SETTINGS = {
    **{f"threads-{number}": threads(number) for number in (1, 2, 8)},
    **{f"cpu-{name}": {**threads(1), "NMPARSE_CPU": name} for name in CLASSES},
    **{f"noise-{seed}": {**threads(1), "NMPARSE_NOISE": str(seed)} for seed in range(1, 6)},
}
PATHS = os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests" / "noise")))


def selection(arguments: list[str]) -> list[str]:
    """What pytest is called with."""
    if any((ROOT / one.split("::")[0]).exists() for one in arguments):
        return arguments
    return [*arguments, *(f"--ignore={path}" for path in LEFT_OUT), "tests"]


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--setting", action="append", choices=SETTINGS, help="all, if none is named")
    add("--log", type=Path, help="a folder for what pytest prints")
    add("pytest", nargs="*", help="after --: what pytest is called with")
    options = parser.parse_args(arguments)
    command = ["-m", "pytest", "-q", "-m", "slow or not slow", *selection(options.pytest)]
    found: dict[str, list[str]] = {}
    for name, variables in SETTINGS.items():
        if name not in (options.setting or SETTINGS):
            continue
        start = time.perf_counter()
        status, output = python(ROOT, *command, variables={**variables, "PYTHONPATH": PATHS})
        if options.log:
            options.log.mkdir(parents=True, exist_ok=True)
            (options.log / f"{name}.log").write_text(output, encoding="utf-8")
        found[name] = failed(output)
        if status and not found[name]:  # no test failed, but pytest did
            found[name] = [f"pytest: exit status {status}"]
            print(output[-2000:])
        last = "".join(output.strip().splitlines()[-1:])
        print(f"{name}: {last} ({time.perf_counter() - start:.0f} s)", flush=True)
        for test in found[name]:
            print(f"    {test}", flush=True)
    rows = [[name, str(len(tests))] for name, tests in found.items()]
    print(f"\n{page_table(['Setting', 'Failed'], rows)}")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
