"""Build the extensions with AddressSanitizer and UndefinedBehaviourSanitizer, and run Python on
them: Linux, GCC, a git checkout.

    python -m tests.sanitize -m tests.fuzz --transitions 1000000
    python -m tests.sanitize -m pytest -q tests/systems
    python -m tests.sanitize --leaks -m tests.leaks --docs 2000 --updates 200

What follows is what Python is called with. The build is in a folder of its own, a copy of the
checkout, and is made again where a source is newer. A finding stops the program, with its stack,
and the exit status is not 0. ``--leaks``: at the end, memory that nothing points to any more is
looked for, and is a finding where one of the extensions has allocated it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.copies import build

SANITIZERS = "address,undefined"
LIBRARIES = ("libasan.so", "libubsan.so", "libstdc++.so")


def library(name: str) -> str:
    """Where GCC has one of its libraries."""
    found = subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    )
    path = found.stdout.strip()
    if not Path(path).is_absolute():
        raise SystemExit(f"GCC has no {name}: install its sanitizers (Debian: libgcc-*-dev).")
    return path


def environment_of(target: Path, leaks: bool) -> dict[str, str]:
    """What the sanitizers need: to be loaded first, and Python's objects from malloc, or else
    writing past the end of one goes unseen."""
    return {
        **os.environ,
        "LD_PRELOAD": " ".join(map(library, LIBRARIES)),
        "ASAN_OPTIONS": f"detect_leaks={int(leaks)}:exitcode=66:allocator_may_return_null=1",
        # Exit status 0 of LeakSanitizer: the interpreter never frees all that it has.
        "LSAN_OPTIONS": "exitcode=0:max_leaks=0:report_objects=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=67",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(target / "src"),
    }


def own_leaks(report: str) -> list[str]:
    """The leaks in LeakSanitizer's report that an extension of the package has allocated, but for
    what modules make once, when they are imported."""
    leaks = []
    for leak in re.split(r"\n\s*\n", report):
        near = "\n".join(re.findall(r"^ +#[1-6] .*$", leak, re.MULTILINE))
        if "spacy_nmparse" in near and "pymod_exec" not in leak and "PyInit" not in leak:
            leaks.append(leak)
    return leaks


def main(arguments: list[str]) -> int:
    """The command line."""
    leaks = "--leaks" in arguments[:1]
    command = arguments[leaks:]
    target = build("sanitize", {"NMPARSE_SANITIZE": SANITIZERS})
    if not command:
        print(f"Built in {target}.")
        return 0
    done = subprocess.run(
        [sys.executable, *command],
        cwd=target,
        env=environment_of(target, leaks),
        stderr=subprocess.PIPE if leaks else None,
        text=True,
        check=False,
    )
    status, found = done.returncode, own_leaks(done.stderr or "")
    print(f"Sanitized ({SANITIZERS}), exit status {status}", flush=True)
    if leaks:
        every = done.stderr.count(" leak of ")
        print(f"{every} leaks, most of them the interpreter's; of the package: {len(found)}")
        print("\n".join(found[:5]))
        if status:
            print(done.stderr[-5000:])
    return status or int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
