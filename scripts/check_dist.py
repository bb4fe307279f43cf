"""Check that an sdist holds the whole project, and a wheel the whole package, compiled.

    python scripts/check_dist.py dist/spacy_nmparse-0.1.0.tar.gz dist/spacy_nmparse-0.1.0-*.whl

The sdist must hold each file under version control but those that are about the repository; the
wheel each file of the package, with the .pxd files and headers that other Cython code needs, the
stubs, and an extension for each Cython module; neither may hold generated C.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "spacy_nmparse/"
REPOSITORY_ONLY = (".ci/", ".github/", ".gitignore")
GENERATED = (".c", ".cpp")


def tracked_files() -> set[str]:
    """The files under version control (POSIX paths)."""
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, encoding="utf-8"
    )
    return set(done.stdout.splitlines())


def sdist_files(path: Path) -> set[str]:
    """The files of an sdist, without its folder's name."""
    with tarfile.open(path) as archive:
        names = [member.name for member in archive.getmembers() if member.isfile()]
    return {name.split("/", 1)[1] for name in names}


def wheel_files(path: Path) -> set[str]:
    """The files of a wheel."""
    with zipfile.ZipFile(path) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def check_sdist(found: set[str], tracked: set[str]) -> list[str]:
    """What is wrong with the sdist.

    Args:
        found: its files.
        tracked: the files under version control.

    Returns:
        A line for each fault.
    """
    wanted = {name for name in tracked if not name.startswith(REPOSITORY_ONLY)}
    lines = [f"sdist: {name} is missing" for name in sorted(wanted - found)]
    return lines + [f"sdist: {name} is generated" for name in sorted(found) if is_generated(name)]


def check_wheel(found: set[str], tracked: set[str]) -> list[str]:
    """What is wrong with the wheel; arguments and result as those of ``check_sdist``."""
    wanted = {name for name in tracked if name.startswith(PACKAGE)}
    lines = [f"wheel: {name} is missing" for name in sorted(wanted - found)]
    lines += [f"wheel: {name} is generated" for name in sorted(found) if is_generated(name)]
    for name in sorted(wanted):
        if name.endswith(".pyx"):
            stem = name.removesuffix("pyx")
            if not any(f.startswith(stem) and f.endswith((".so", ".pyd")) for f in found):
                lines.append(f"wheel: {name} is not compiled")
            if name.replace(".pyx", ".pyi") not in found:
                lines.append(f"wheel: {name} has no stub")
    metadata = ".dist-info/"
    outside = {name for name in found if not name.startswith(PACKAGE) and metadata not in name}
    # On Windows and macOS, wheels may carry the libraries that the extensions need.
    outside = {name for name in outside if not name.startswith("spacy_nmparse.libs/")}
    return lines + [f"wheel: {name} is not of the package" for name in sorted(outside)]


def is_generated(name: str) -> bool:
    """Whether Cython wrote this file."""
    return name.startswith(PACKAGE) and name.endswith(GENERATED)


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sdist", type=Path)
    parser.add_argument("wheels", type=Path, nargs="+")
    args = parser.parse_args(argv)
    try:
        tracked = tracked_files()
        faults = check_sdist(sdist_files(args.sdist), tracked)
        for wheel in args.wheels:
            faults += check_wheel(wheel_files(wheel), tracked)
    except (OSError, subprocess.CalledProcessError, tarfile.TarError, zipfile.BadZipFile) as error:
        print(f"check_dist.py: {error}", file=sys.stderr)
        return 1
    for fault in faults:
        print(f"check_dist.py: {fault}", file=sys.stderr)
    if not faults:
        print(f"{args.sdist.name} and {len(args.wheels)} wheel(s): complete")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
