"""Outputs: complete or not there, whoever else writes to them, after a kill or on a full disk.

A new file or folder is made in a hidden folder beside the old one, and replaces it when it is
complete. Nothing here waits for the disk: what a power failure leaves is up to the file system.
"""

from __future__ import annotations

import copy
import ctypes
import errno
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from spacy.language import Language

from spacy_nmparse.pipe.workplace import NEW, locked, workplace

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of Linux's renameat2
MAX_LINKS = 40


def place_of(path: Path) -> Path | int | None:
    """Find out where an output is written.

    Args:
        path: The path that the user has named.

    Returns:
        The file behind the links of a path, which is there or not. An open descriptor, where the
        path is a name of it (/dev/stdout). None: the path is no regular file (a device, a FIFO).

    Raises:
        OSError: If the links have no end.
    """
    place = path
    for _ in range(MAX_LINKS):
        folder = os.path.realpath(place.parent)
        if folder in ("/dev/fd", os.path.realpath("/proc/self/fd")) and place.name.isdigit():
            return int(place.name)
        place = Path(folder, place.name)
        if not place.is_symlink():
            break
        if folder.startswith("/proc/"):  # open files of other processes
            return None
        place = place.parent / os.readlink(place)
    else:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return place
    return place if stat.S_ISREG(mode) else None


def is_replaced(path: Path) -> bool:
    """Whether an output is a regular file, or will be one; all others are opened and written."""
    return isinstance(place_of(path), Path)


@contextmanager
def new_file(
    path: Path, before_replace: Callable[[Path], Any] = lambda new: None
) -> Iterator[IO[bytes]]:
    """Open a file that is written beside the old one, and replaces it when the block ends. What is
    no regular file is opened itself.

    Args:
        path: The file. Its folder exists.
        before_replace: Called with the complete file, before it takes its place.

    Raises:
        OSError: If it cannot be written. After this or any other error the old file is as it was.
    """
    place = place_of(path)
    if not isinstance(place, Path):
        with _opened(path, place) as file:
            yield file
        return
    with workplace(place.parent) as work:
        new = work / NEW
        new.touch()
        _give_access(new, place)
        with new.open("wb") as file:
            yield file
        before_replace(new)
        new.replace(place)


def _opened(path: Path, place: int | None) -> IO[bytes]:
    """A device, pipe or stream, open to be written."""
    if place is None:
        return path.open("wb")
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # what they have got comes first
    return os.fdopen(os.dup(place), "wb")


def _give_access(new: Path, old: Path) -> None:
    """Give a new file or folder the owner and mode of an old one, where there is one. (Only the
    superuser can give files to others.) Raises PermissionError, if the old one is read-only."""
    try:
        before = old.stat()
    except OSError:
        return
    if not os.access(old, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(old))
    now = new.stat()
    if (before.st_uid, before.st_gid) != (now.st_uid, now.st_gid) and hasattr(os, "chown"):
        for uid in (before.st_uid, -1):
            with suppress(OSError):
                os.chown(new, uid, before.st_gid)
                break
    if stat.S_IMODE(before.st_mode) != stat.S_IMODE(now.st_mode):
        new.chmod(stat.S_IMODE(before.st_mode))


def write_files(data: Mapping[Path, bytes | Path]) -> None:
    """Write several files, and make their folders. All of them are complete before the first takes
    its place; the others wait if another process writes files to the same folder.

    Args:
        data: The content of each file, or a file that has it.

    Raises:
        OSError: It names the file that cannot be written; the old ones are as they were.
    """
    path = Path()
    with ExitStack() as stack:
        try:
            work: dict[Path, Path] = {}  # for each folder
            made: dict[Path, Path] = {}  # for each place, the new file
            open_ones: dict[Path, int | None] = {}
            for path, content in data.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                place = place_of(path)
                if not isinstance(place, Path):
                    open_ones[path] = place
                    continue
                if place.parent not in work:
                    work[place.parent] = stack.enter_context(workplace(place.parent))
                made[place] = new = work[place.parent] / f"{NEW}{len(made)}"
                new.touch()
                _give_access(new, place)
                if isinstance(content, Path):
                    shutil.copyfile(content, new)
                else:
                    new.write_bytes(content)
            _take_places(made)
            for path, number in open_ones.items():
                content = data[path]
                with _opened(path, number) as file:
                    file.write(content if isinstance(content, bytes) else content.read_bytes())
        except OSError as error:
            if error.filename2 is None:  # not from one name to another
                error.filename = str(path)
            raise


def _take_places(made: Mapping[Path, Path]) -> None:
    """Let new files take their places: all or, where one cannot, none."""
    if len(made) < 2:
        for place, new in made.items():
            new.replace(place)
        return
    with locked(min(made, key=lambda place: len(place.parts)).parent):
        old: dict[Path, Path] = {}
        for place, new in made.items():
            if place.exists():
                old[place] = new.with_name(f"old-{new.name}")
                _copy(place, old[place])
        try:
            for place, new in made.items():
                new.replace(place)
        except BaseException:
            for place in [place for place, new in made.items() if not new.exists()]:
                with suppress(OSError):  # else its copy stays, in the hidden folder
                    if place in old:
                        old.pop(place).replace(place)
                    else:
                        place.unlink()
            raise
        finally:
            for copied in old.values():
                copied.unlink()


def _copy(file: Path, to: Path) -> None:
    try:
        os.link(file, to)
    except OSError:  # a file system without links
        shutil.copy2(file, to)


def replace_folder(path: Path, write: Callable[[Path], None], stale: Iterable[str] = ()) -> None:
    """Write a folder beside the old one, then replace the old one. What only the old one has is in
    the new one, too.

    Args:
        path: The folder, which may exist.
        write: Writes a folder that does not exist yet.
        stale: Names in the old folder, of what is not kept.

    Raises:
        OSError: If it cannot be written. After this, and whatever ``write`` raises, the old folder
            is as it was.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            work = stack.enter_context(workplace(path.parent))
        except OSError:
            if not path.is_dir():
                raise
            work = stack.enter_context(workplace(path))
        new = work / NEW
        write(new)
        parts = [one.relative_to(new) for one in sorted(new.rglob("*"))]
        gone = set(stale) - set(os.listdir(new))
        with locked(path.parent):
            for part in (Path(), *parts):
                _give_access(new / part, path / part)
            taken = _take_place(work, path, parts, gone)
        if not taken:
            for part in (Path(), *parts):
                if (new / part).is_dir():
                    (path / part).mkdir(exist_ok=True)
            write_files({path / part: new / part for part in parts if (new / part).is_file()})
            for name in gone & set(os.listdir(path)):
                shutil.rmtree(path / name, ignore_errors=True)


def _take_place(work: Path, path: Path, parts: Iterable[Path], gone: Set[str]) -> bool:
    """Let a new folder take the place of another, which may be there.

    Args:
        work: The workplace, where the new one is NEW.
        path: The other.
        parts: The places of all files and folders in the new one.
        gone: Names in the other, of what is not kept.

    Returns:
        False: The other has to stay where it is. The new one is still NEW then.
    """
    new, old, sign = work / NEW, work / "old", work / "exchanged"
    if not path.exists():
        try:
            new.rename(path)
            return True
        except OSError:
            if not path.is_dir():  # else another process has just made it
                raise
    if work.parent == path or _has_to_stay(path, parts):
        return False
    try:
        sign.touch()  # from here on, what is named NEW may be the old one: nobody removes it
        if exchanged := exchange(new, path):
            new.rename(old)
        sign.unlink()
        if not exchanged:
            try:
                path.rename(old)
            except OSError:  # a file of it is open (Windows), or a layer of a container begins
                return False
            try:
                new.rename(path)
            except OSError:
                if path.is_dir():  # another process was faster
                    return False
                raise
    finally:
        if old.exists():
            _keep(old, path, gone)
    old.rename(new)  # nobody needs it any more
    return True


def _has_to_stay(path: Path, parts: Iterable[Path]) -> bool:
    """Whether a folder cannot be exchanged: this process works in it, a file system begins there,
    or what is to be replaced in it is a link to another place."""
    with suppress(OSError):
        if Path.cwd().is_relative_to(path):
            return True
    return os.path.ismount(path) or any((path / part).is_symlink() for part in parts)


def _keep(old: Path, new: Path, gone: Set[str] = frozenset()) -> None:
    """Move what only the old one of two folders has to the new one, but for some names in it."""
    if not os.path.lexists(new):
        old.rename(new)
    elif old.is_dir() and new.is_dir() and not old.is_symlink():
        for name in set(os.listdir(old)) - gone:
            _keep(old / name, new / name)


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
    pipeline, whole. As with ``nlp.to_disk``, other files in the folder stay; components that the
    old pipeline has, and this one has not, do not.

    Where folders cannot exchange their names in one step (on systems other than Linux), a kill
    between two renames leaves the old pipeline in a hidden folder beside it (``.nmparse-*/old``).
    A folder that has to stay where it is (the working folder, a mounted one) gets the new files one
    by one.

    Raises ValueError where a component's name would lead out of the folder.
    """
    for name in nlp.component_names:
        if Path(name).name != name or name == "..":
            raise ValueError(f"The component {name!r} has no name for a folder: rename it.")
    to_disk, path = type(nlp).to_disk, Path(path)
    replace_folder(
        path, lambda folder: to_disk(nlp, folder, exclude=list(exclude)), _components(path)
    )


def _components(path: Path) -> set[str]:
    """The names of the components of the pipeline in a folder, if one is there."""
    try:
        meta = json.loads((path / "meta.json").read_bytes())
        return set(meta["components"]) if "spacy_version" in meta else set()
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()


def make_safe(nlp: Language) -> Language:
    """The pipeline, as one whose ``to_disk`` is ``safe_to_disk``. It shares all with the other."""
    safe: Any = copy.copy(nlp)
    safe.to_disk = lambda path, exclude=(): safe_to_disk(nlp, path, exclude=exclude)
    return safe
