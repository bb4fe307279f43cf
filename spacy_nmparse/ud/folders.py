"""The files of folders that are data."""

from __future__ import annotations

from pathlib import Path


def files_in(folder: Path) -> list[Path]:
    """The files of a folder, and of folders in it, in the order of their names. As for spaCy's
    readers, files and folders whose names begin with a dot are no data; the folder itself may."""
    found = sorted(folder.rglob("*"))
    return [path for path in found if path.is_file() and not _is_hidden(path.relative_to(folder))]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
