"""Jobs: an input, its output, the options; and the record of what earlier runs have written."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from spacy_nmparse.pipe.files import is_replaced
from spacy_nmparse.ud.folders import files_in
from spacy_nmparse.ud.parse_inputs import name_of

#: In each folder with outputs: how they were made, a line of JSON each.
RECORD = ".nmparse.jsonl"


@dataclass(frozen=True)
class Job:
    """An input, and where its parses go; None: standard input, standard output."""

    source: Path | None
    target: Path | None

    @property
    def name(self) -> str:
        """The input's name in messages."""
        return name_of(self.source)

    @property
    def is_stream(self) -> bool:
        """Whether the input can be read only once: standard input, a pipe."""
        return self.source is None or not self.source.is_file()


def options_of(
    form: str, kind: str | None, confidence: bool, keep_heads: bool, model: Path | None
) -> dict[str, Any]:
    """The options that an output depends on, for the record.

    Args:
        form: Its format.
        kind: That of the input; None: by its name.
        confidence: Whether confidences are written.
        keep_heads: Whether the heads of the input are kept.
        model: The pipeline's folder, whose files are read; None: it has none.
    """
    how = {"confidence": confidence, "keep_heads": keep_heads}
    digest = None if model is None else digest_of(model)
    return {"format": form, "input_format": kind, **how, "model": digest}


def digest_of(folder: Path) -> str:
    """The SHA-256 of a folder's files, hidden ones left out."""
    whole = hashlib.sha256()
    for path in files_in(folder):
        name = path.relative_to(folder).as_posix()
        whole.update(name.encode("utf-8", "surrogateescape"))
        whole.update(path.read_bytes())
    return whole.hexdigest()


def read_record(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The record of a folder: for each file, a line of each run that has written it."""
    try:
        with _record(folder, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return {}
    found: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        try:
            entry = json.loads(line)
            found.setdefault(entry["output"], []).append(entry)
        except (ValueError, TypeError, KeyError, RecursionError):
            continue  # a killed process did not finish the line
    return found


def _record(folder: Path, mode: str) -> IO[bytes]:
    """Open the record of a folder."""
    check_record(folder)
    flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # links, FIFOs
    return open(folder / RECORD, mode, opener=lambda name, how: os.open(name, how | flags, 0o666))


def check_record(folder: Path) -> None:
    """Raise OSError where the record of a folder is a link, or no file."""
    path = folder / RECORD
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise OSError(f"{path} is no regular file: remove it, or choose another folder")


def note(target: Path, made: Path, **how: Any) -> None:
    """Note in the record that an output is this command's, and how it was made.

    Args:
        target: The output.
        made: The file that is about to take its place.
        how: The name of the ``input``, its stamp before it was read as ``input_stamp``, and what
            ``options_of`` gives as ``options``.
    """
    entry = {"output": target.name, "stamp": stamp(made), **how}
    with _record(target.parent, "ab+") as file:
        file.seek(max(0, file.tell() - 1))
        end = b"\n" if file.read() not in (b"", b"\n") else b""  # of what a process did not finish
        file.write(end + json.dumps(entry).encode() + b"\n")  # at once: others may write, too


def stamp(path: Path | None) -> list[int] | None:
    """The size of a file, and when it was last changed; None, where there is no file."""
    if path is None or not path.is_file():
        return None
    status = path.stat()
    return [status.st_size, status.st_mtime_ns]


def is_done(job: Job, options: dict[str, Any]) -> bool:
    """Whether the output is there, made of the same input with the same options and model.

    Args:
        job: The job.
        options: What ``options_of`` gives.

    Raises:
        FileExistsError: If there is a file that this command did not write, or that was changed
            since.
    """
    if job.target is None or not job.target.is_file() or not is_replaced(job.target):
        return False
    entries = read_record(job.target.parent).get(job.target.name, [])
    # A killed process may have recorded what did not take its place.
    made = [entry for entry in entries if entry.get("stamp") == stamp(job.target)]
    if not made:
        there = "was changed after it was written"
        if not entries:
            there = "is there already, and not made by parse"
        raise FileExistsError(f"{job.target} {there}: --force overwrites it")
    how = {"input": job.name, "input_stamp": stamp(job.source), "options": options}
    return not job.is_stream and all(made[-1].get(key) == how[key] for key in how)
