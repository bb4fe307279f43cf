"""Which lines of the package do the tests run, Python and Cython? Linux, GCC, a git checkout.

    python -m tests.coverage                                   # the default tests
    python -m tests.coverage -n auto -m "slow or not slow"     # other ones: pytest's arguments
    python -m tests.coverage --show src/spacy_nmparse/systems/gold.pyx

builds the extensions with GCC's counters in a copy of the checkout, runs pytest there, and prints a
table of the package's folders. ``--show`` prints the lines of files that the last run has missed.
Lines of Cython modules are those that Cython writes C for; Python's are counted by coverage.py (to
be installed), in child processes too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.copies import ROOT, build

PACKAGE = "src/spacy_nmparse"
FOUND = "lines.json"  # file -> line -> whether it was run
SETTINGS = """
[run]
source = spacy_nmparse
parallel = true
patch = subprocess
concurrency = multiprocessing, thread
disable_warnings = no-data-collected
"""

#: What has no C of its own: comments, ends of brackets, declarations, heads of functions.
NOT_RUN = re.compile(r"$|[#@)\]}]|cdef (readonly )?[\w ]+(#.*)?$|(cdef|cpdef|def|class)\b.*[:(]$")

Lines = dict[str, dict[int, bool]]


def counted(target: Path) -> Iterator[tuple[str, int, bool]]:
    """File, line, and whether it was run: of the Cython modules and of the headers."""
    for unit in sorted(target.glob("build/**/*.gcno")):
        command = ["gcov", "--json-format", "--stdout", str(unit.with_suffix(".gcda"))]
        # What it complains of are modules that no test has loaded.
        done = subprocess.run(command, cwd=target, capture_output=True, check=True)
        for file in json.loads(done.stdout)["files"]:
            name = file["file"]
            if name.startswith(PACKAGE) and name.endswith((".pyx", ".pxd", ".h")):
                for line in file["lines"]:
                    yield name, line["line_number"], line["count"] > 0


def measured(target: Path) -> Iterator[tuple[str, int, bool]]:
    """The same of the Python modules."""
    report = target / "python.json"
    for command in (["combine", "--quiet"], ["json", "--quiet", "-o", str(report)]):
        subprocess.run([sys.executable, "-m", "coverage", *command], cwd=target, check=True)
    for name, file in json.loads(report.read_text())["files"].items():
        for key in ("executed_lines", "missing_lines"):
            for line in file[key]:
                yield name, line, key == "executed_lines"


def statements(text: str) -> set[int]:
    """The lines of a Cython module that can be run: C follows others, too."""
    found, in_docstring = set(), False
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        quotes = line.count('"""')
        if not (in_docstring or quotes or NOT_RUN.match(line)):
            found.add(number)
        in_docstring ^= quotes == 1
    return found


def run(arguments: list[str]) -> int:
    """Build, run the tests, note the lines; pytest's exit status."""
    target = build("coverage", {"NMPARSE_COVERAGE": "1"})
    for old in (*target.glob("build/**/*.gcda"), *target.glob(".coverage*")):
        old.unlink()
    (target / ".coveragerc").write_text(SETTINGS)
    command = [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q", *arguments]
    status = subprocess.run(
        command, cwd=target, env={**os.environ, "PYTHONPATH": str(target / "src")}, check=False
    ).returncode
    lines: Lines = defaultdict(dict)
    for find in (counted, measured):
        for name, line, was_run in find(target):
            lines[name][line] = lines[name].get(line, False) or was_run
    (target / FOUND).write_text(json.dumps(lines))
    return status


def read(target: Path) -> Lines:
    """What the last run has found, without lines that are none of their file's."""
    lines: Lines = {}
    for name, found in json.loads((target / FOUND).read_text()).items():
        if not (target / name).exists():  # Cython's own
            continue
        lines[name] = {int(number): was_run for number, was_run in found.items()}
        if not name.endswith(".py"):
            own = statements((target / name).read_text())
            lines[name] = {number: lines[name][number] for number in sorted(own & {*lines[name]})}
    return lines


def table(lines: Lines) -> Iterator[str]:
    """Lines of Markdown: a folder's lines, those that were run, and their share."""
    yield "| Folder | | Lines | Run | % |\n| --- | --- | --: | --: | --: |"
    kinds: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for name, found in lines.items():
        kind = "Python" if name.endswith(".py") else "Cython"
        for folder in (str(Path(name).parent), "all"):
            kinds[folder, kind] += found.values()
    for (folder, kind), found in sorted(kinds.items(), key=lambda one: (one[0][0] == "all", one)):
        share = 100 * sum(found) / max(1, len(found))
        yield f"| {folder} | {kind} | {len(found)} | {sum(found)} | {share:.1f} |"


def main(arguments: list[str]) -> int:
    """The command line."""
    target = ROOT / "build" / "coverage"
    if arguments[:1] == ["--show"]:
        lines = read(target)
        for name in arguments[1:]:
            texts = (target / name).read_text().splitlines()
            for number, was_run in lines[name].items():
                if not was_run:
                    print(f"{name}:{number}: {texts[number - 1]}")
        return 0
    if not shutil.which("gcov"):
        raise SystemExit("gcov is missing: it comes with GCC.")
    status = run(arguments)
    print("\n".join(table(read(target))), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
