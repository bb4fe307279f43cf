"""Hidden folders in which outputs are made before they take their places.

Nobody else has their names. A process holds a lock on each of its own, so that what a killed
process leaves is known, and the next one that writes to the same folder removes it. Windows has no
locks of folders: there it stays.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl: Any = None  # type: ignore[no-redef]

NAME = re.compile(r"\.nmparse-[0-9a-f]{16}")
NEW = "new"  # begins the names of what nobody needs after the process
_in_use: set[tuple[int, Path]] = set()  # processes and their workplaces


@contextmanager
def workplace(folder: Path) -> Iterator[Path]:
    """Make a hidden folder. It is removed at the end, unless something is in it whose name does not
    begin with NEW: old data that has found no place.

    Args:
        folder: Where it is made.

    Yields:
        Its path.

    Raises:
        OSError: If it cannot be made.
    """
    _sweep(folder)
    while True:
        path = folder / f".nmparse-{secrets.token_hex(8)}"
        path.mkdir()
        number = _lock(path)
        try:
            if path.exists():  # else another process has just swept it
                mine = os.getpid(), path
                _in_use.add(mine)
                try:
                    yield path
                finally:
                    _clear(path)
                    _in_use.remove(mine)
                return
        finally:
            _unlock(number)


def clear_all() -> None:
    """Clear the workplaces of this process, which is about to die."""
    for process, path in list(_in_use):
        if process == os.getpid():
            _clear(path)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let no other process that asks for the lock of this folder go on meanwhile."""
    number = _lock(folder)
    try:
        yield
    finally:
        _unlock(number)


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Hold the lock of a file, where there are locks.

    Raises:
        ValueError: If another process holds it.
    """
    with file.open("rb") as opened:
        if fcntl is not None:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(f"Another process works at {file}.") from None
            except OSError:
                pass  # a file system without locks
        yield


def _lock(folder: Path, wait: bool = True) -> int | None:
    """Lock a folder: a descriptor that holds the lock. None: it has no locks, or, without
    ``wait``, another process has the lock."""
    if fcntl is None:
        return None
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(number, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        return None
    return number


def _unlock(number: int | None) -> None:
    if number is not None:
        os.close(number)


@lru_cache(maxsize=1000)
def _sweep(folder: Path) -> None:
    """Remove what killed processes have left in a folder; once is enough."""
    with suppress(OSError):
        for path in [folder / name for name in os.listdir(folder) if NAME.fullmatch(name)]:
            if path.is_dir():
                number = _lock(path, wait=False)
                if number is not None:
                    _clear(path)
                    _unlock(number)


def _clear(path: Path) -> None:
    with suppress(OSError):
        if all(name.startswith(NEW) for name in os.listdir(path)):
            shutil.rmtree(path)
