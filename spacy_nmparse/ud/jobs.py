"""Which file is parsed into which, and what earlier runs have written."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from spacy_nmparse.pipe.files import is_replaced
from spacy_nmparse.ud.folders import files_in
from spacy_nmparse.ud.parse_inputs import name_of
from spacy_nmparse.ud.parse_outputs import CONLLU, FORMATS, SPACY

PLUS = ".conllup"  # CoNLL-U with more columns
STANDARD = "-"  # standard input or output
PARSED = (".txt", ".conllu", PLUS, ".conll", ".spacy")  # the files of a folder that are parsed
#: In each folder with outputs: how they were made, a line of JSON each.
RECORD = ".nmparse.jsonl"


@dataclass(frozen=True)
class Job:
    """An input, and where its parses go; None: standard input, standard output."""

    source: Path | None
    target: Path | None

    @property
    def name(self) -> str:
        """What messages call the input."""
        return name_of(self.source)

    @property
    def is_stream(self) -> bool:
        """Whether the input can be read only once: standard input, a pipe."""
        return self.source is None or not self.source.is_file()


def plan(
    inputs: Sequence[str],
    output: str,
    form: str,
    on_skip: Callable[[Path, int, int], Any] = lambda folder, n_written, n_others: None,
) -> list[Job]:
    """Find out which file is parsed into which.

    Args:
        inputs: Files, folders, or "-" for standard input. Of a folder all files with an ending of
            PARSED are parsed, those of folders in it too, but no hidden ones, and nothing that
            earlier runs have written: files in their records, and the folder ``output``.
        output: A file, a folder, or "-" for standard output. It must be a folder where there are
            several inputs or a folder among them; the files in it have the names and places of the
            inputs.
        form: One of FORMATS.
        on_skip: Called with each folder in which files were passed over: how many are earlier
            outputs, and how many have other endings.

    Returns:
        The jobs.

    Raises:
        FileNotFoundError: If an input is missing.
        ValueError: If two inputs would have the same output, an input would be overwritten, an
            output would not be in the folder, the folder would have the name of a file, or .spacy
            is asked for on standard output.
    """
    if output == STANDARD and form == SPACY:
        raise ValueError("A .spacy file cannot go to standard output: name one with --output.")
    found = [one for given in inputs for one in _found(given, Path(output), on_skip)]
    if output == STANDARD:
        return [Job(source, None) for source, _ in found]
    target = Path(output)
    single = len(found) == 1 and not Path(inputs[0]).is_dir()
    named_a_folder = target.is_dir() or output.endswith(("/", "\\"))
    if single and not named_a_folder:
        jobs = [Job(found[0][0], target)]
    else:
        if target.exists() and not target.is_dir():
            raise ValueError(f"There are several inputs, so {target} must be a folder.")
        if not named_a_folder and target.suffix.lower() in FORMATS.values():
            raise ValueError(
                f"{target} is named like a file, but of a folder, or of several inputs, the output "
                f"is a folder: --output {target.with_suffix('')} (and --format)."
            )
        jobs = [Job(one, target / _named(place, form)) for one, place in found]
        for job in jobs:
            assert job.target is not None
            if not job.target.parent.resolve().is_relative_to(target.resolve()):
                raise ValueError(f"{job.target} is not in {target}: a link leads out of it.")
    return _checked(jobs)


def _found(
    given: str, output: Path, on_skip: Callable[[Path, int, int], Any]
) -> list[tuple[Path | None, Path]]:
    """The inputs that an argument names, and their places below the output."""
    path = Path(given)
    if given == STANDARD:
        return [(None, Path("stdin"))]
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {path}.")
    if not path.is_dir():
        return [(path, Path(path.name))]
    files, n_written, n_others = _files_of(path, output)
    if n_written or n_others:
        on_skip(path, n_written, n_others)
    if not files:
        but = " that this command did not write: name files to parse them" * bool(n_written)
        raise FileNotFoundError(f"The folder {path} has no {', '.join(PARSED)} file{but}.")
    return [(one, one.relative_to(path)) for one in files]


def _files_of(folder: Path, output: Path) -> tuple[list[Path], int, int]:
    """The files of a folder that are to be parsed, how many others are earlier outputs, and how
    many have other endings; without hidden files."""
    files, n_written, n_others = [], 0, 0
    made = output.resolve()
    made_below = made != folder.resolve() and made.is_relative_to(folder.resolve())
    written: dict[Path, set[str]] = {}
    for path in files_in(folder):
        if path.parent not in written:
            written[path.parent] = set(read_record(path.parent))
        if path.name in written[path.parent] or (
            made_below and path.resolve().is_relative_to(made)
        ):
            n_written += 1
        elif path.suffix.lower() in PARSED:
            files.append(path)
        else:
            n_others += 1
    return files, n_written, n_others


def _named(place: Path, form: str) -> Path:
    """The name of an output; that of CoNLL-U Plus has more columns than CoNLL-U, too."""
    is_plus = form == CONLLU and place.suffix.lower() == PLUS
    return place if is_plus else place.with_suffix(FORMATS[form])


def _checked(jobs: list[Job]) -> list[Job]:
    targets: dict[Path, Job] = {}
    sources = {job.source.resolve() for job in jobs if job.source and not job.is_stream}
    for job in jobs:
        assert job.target is not None
        target = job.target.resolve()
        if target in targets:
            raise ValueError(
                f"{targets[target].name} and {job.name} would both be parsed into {job.target}: "
                f"parse them with different outputs."
            )
        if target in sources:
            raise ValueError(f"{job.target} is an input, and would be overwritten.")
        targets[target] = job
    return jobs


@dataclass(frozen=True)
class Asked:
    """What is asked for, of each file alike.

    Attributes:
        form: The format of the outputs, one of FORMATS.
        kind: That of the inputs; None: by their names.
        confidence: Whether confidences are written.
        keep_heads: Whether the heads of the inputs are kept.
        n_process: As of ``FileParser``, like the next two.
    """

    form: str = CONLLU
    kind: str | None = None
    confidence: bool = False
    keep_heads: bool = False
    n_process: int = 1
    batch_size: int | None = None
    keep_going: bool = False

    @property
    def of_parser(self) -> dict[str, Any]:
        """The arguments of ``FileParser``."""
        names = ("confidence", "n_process", "batch_size", "keep_going")
        return {name: getattr(self, name) for name in names}

    def options(self, model: Path | None) -> dict[str, Any]:
        """What an output depends on beside its input, for the record.

        Args:
            model: The pipeline's folder, whose files are read; None: it has none.
        """
        how = {"confidence": self.confidence, "keep_heads": self.keep_heads}
        digest = None if model is None else digest_of(model)
        return {"format": self.form, "input_format": self.kind, **how, "model": digest}


def digest_of(folder: Path) -> str:
    """The SHA-256 of a folder's files, hidden ones left out."""
    whole = hashlib.sha256()
    for path in files_in(folder):
        name = path.relative_to(folder).as_posix()
        whole.update(name.encode("utf-8", "surrogateescape"))
        whole.update(path.read_bytes())
    return whole.hexdigest()


def read_record(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What runs have written into a folder: the lines of the record for each file."""
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
            ``Asked.options`` gives as ``options``.
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
        options: What ``Asked.options`` gives.

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
