"""Which file is parsed into which, as the command line names them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from spacy_nmparse.ud.folders import files_in
from spacy_nmparse.ud.jobs import Job, read_record
from spacy_nmparse.ud.parse_outputs import CONLLU, FORMATS, SPACY

PLUS = ".conllup"  # CoNLL-U with more columns
STANDARD = "-"  # standard input or output
PARSED = (".txt", ".conllu", PLUS, ".conll", ".spacy")  # the files of a folder that are parsed


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
