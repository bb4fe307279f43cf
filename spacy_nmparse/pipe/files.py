"""Saving without losing what was saved before: a killed process, a full disk.

New files are written next to the old ones, and replace them when they are complete.
Nothing here waits for the disk: what a power failure leaves is up to the file system.
"""

from __future__ import annotations

import copy
import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from spacy.language import Language

#: Ends of the names of files and folders that are being written, or were, by a killed process.
NEW, OLD = ".new", ".old"
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of Linux's renameat2


@contextmanager
def new_file(
    path: Path, before_replace: Callable[[Path], Any] = lambda new: None
) -> Iterator[IO[bytes]]:
    """Open a file that is written next to the old one, and replaces it when the block ends.

    Args:
        path: The file. Its folder exists.
        before_replace: Called with the complete file, before it takes its place.

    Raises:
        OSError: If it cannot be written. After this or any other error the old file is as it was.
    """
    new = path.with_name(path.name + NEW)
    new.unlink(missing_ok=True)  # of a killed process; a link would lead elsewhere
    try:
        with new.open("xb") as file:
            yield file
        before_replace(new)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)  # nothing half-written stays
        raise


def write_files(data: dict[Path, bytes]) -> None:
    """Write several files, and make their folders. All of them are complete before the first takes
    its place.

    Raises OSError, which names it, where one cannot be written; then the old ones are as they were.
    """
    try:
        with ExitStack() as stack:
            for path, content in data.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context(new_file(path))
                file.write(content)
                file.flush()
    except OSError as error:
        if error.filename2 is None:  # not from one name to another
            error.filename = str(path)
        raise


def replace_folder(path: Path, write: Callable[[Path], None]) -> None:
    """Write a folder next to the old one, then replace the old one.

    Args:
        path: the folder, which may exist.
        write: writes a folder that does not exist yet.

    Raises whatever ``write`` raises; then the old folder is as it was.
    """
    path = path.resolve()
    new = path.with_name(path.name + NEW)
    old = path.with_name(path.name + OLD)
    path.parent.mkdir(parents=True, exist_ok=True)
    if old.is_dir() and not path.exists():  # killed between two renames
        old.rename(path)
    for left in (new, old):
        if left.is_symlink():
            left.unlink()
        shutil.rmtree(left, ignore_errors=True)
    try:
        write(new)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    if not path.exists():
        new.rename(path)
    elif exchange(new, path):
        shutil.rmtree(new, ignore_errors=True)
    else:
        path.rename(old)
        new.rename(path)
        shutil.rmtree(old, ignore_errors=True)


def exchange(one: Path, other: Path) -> bool:
    """Let two files or folders exchange their names in one step. False: this system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None)
    if renameat2 is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    return renameat2(AT_FDCWD, names[0], AT_FDCWD, names[1], RENAME_EXCHANGE) == 0


def safe_to_disk(nlp: Language, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
    """``nlp.to_disk``, but a process that is killed while it saves, or a full disk, leaves the old
    pipeline, whole.

    Where folders cannot exchange their names in one step (on systems other than Linux), a kill
    between two renames leaves it under the name that ends in ".old".

    Raises ValueError where a component's name would lead out of the folder.
    """
    for name in nlp.component_names:
        if Path(name).name != name or name == "..":
            raise ValueError(f"The component {name!r} has no name for a folder: rename it.")
    to_disk = type(nlp).to_disk
    replace_folder(Path(path), lambda folder: to_disk(nlp, folder, exclude=list(exclude)))


def make_safe(nlp: Language) -> Language:
    """The pipeline, as one whose ``to_disk`` is ``safe_to_disk``. It shares all with the other."""
    safe: Any = copy.copy(nlp)
    safe.to_disk = lambda path, exclude=(): safe_to_disk(nlp, path, exclude=exclude)
    return safe
