"""Parse files into others, piece by piece, with one process or several."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from spacy.language import Language

from spacy_nmparse.pipe.files import is_replaced, new_file
from spacy_nmparse.pipe.processes import ProcessDied, in_order
from spacy_nmparse.ud.jobs import Job, check_record, note, options_of, stamp
from spacy_nmparse.ud.known_heads import has_marks
from spacy_nmparse.ud.parse_inputs import CONLLU, SPACY, TEXT, given_ids, kind_of
from spacy_nmparse.ud.parse_outputs import Joined
from spacy_nmparse.ud.pieces import Counts, Part, Piece, PieceParser, cut


def parse_files(
    nlp: Language,
    jobs: Sequence[Job],
    form: str,
    *,
    kind: str | None = None,
    confidence: bool = False,
    n_process: int = 1,
    batch_size: int | None = None,
    keep_going: bool = False,
    keep_heads: bool = False,
    options: dict[str, Any] | None = None,
    on_done: Callable[[int], Any] = lambda n_bytes: None,
) -> Iterator[tuple[Job, Counts | Exception]]:
    """Parse files into others.

    Inputs are cut into pieces, which the processes parse side by side; this process puts them in
    order. The outputs are the same, byte for byte, with any number of processes. The folder of each
    output gets a record of how it was made (RECORD).

    Args:
        nlp: The pipeline.
        jobs: The files.
        form: One of FORMATS.
        kind: One of KINDS; None: by the name of the input, else plain text, unless its first lines
            are CoNLL-U.
        confidence: Whether confidences are written.
        n_process: Processes.
        batch_size: Documents of a batch; None: the pipeline's own.
        keep_going: Whether a document that fails is written without a parse, with its error; else
            its file is not written.
        keep_heads: Whether heads and labels of CoNLL-U and .spacy files are given to the pipeline,
            whose parsers keep them if their ``keep_heads`` is on. Where a file has marks in MISC
            (``KnownHead=Yes``, ``Confirmed=Yes``), only those of marked words are.
        options: What ``options_of`` gives, if it is known: it reads the whole model.
        on_done: Called with the bytes of the input of each piece that is written.

    Yields:
        Each job, in order, and what was parsed or what went wrong: an OSError where a file cannot
        be read or written, a ValueError where the input is not what it should be, a RuntimeError
        where a process died. What was at the output before stays then.
    """
    work = PieceParser(nlp, form, confidence, batch_size, keep_going, keep_heads)
    if options is None:
        to_files = any(job.target for job in jobs)
        options = options_of(nlp.path if to_files else None, form, kind, confidence, keep_heads)
    todo, alone = deque(jobs), False
    try:
        while todo:
            group = _group(todo, alone)
            outcomes = _parse_group(work, group, form, kind, n_process, on_done, options)
            try:
                for outcome in outcomes:
                    yield todo.popleft(), outcome
            except ProcessDied as error:
                # Which file it died of is seen when each is parsed by itself.
                if len(group) == 1 or todo[0].target is None:
                    yield todo.popleft(), error
                alone = True
    finally:
        work.close()


def _group(todo: Iterable[Job], alone: bool) -> list[Job]:
    """The jobs that are parsed together. A stream cannot be read twice: it comes alone."""
    group: list[Job] = []
    for job in todo:
        if group and (alone or job.is_stream or group[0].is_stream):
            break
        group.append(job)
    return group


def _parse_group(
    work: PieceParser,
    jobs: Sequence[Job],
    form: str,
    kind: str | None,
    n_process: int,
    on_done: Callable[[int], Any],
    options: dict[str, Any],
) -> Iterator[Counts | Exception]:
    failed: set[int] = set()
    stamps: dict[int, Any] = {}
    ids: dict[int, set[str]] = {}

    def pieces() -> Iterator[Piece]:
        for number, job in enumerate(jobs):
            its_kind = kind or (kind_of(job.source) if job.source else TEXT)
            stamps[number] = stamp(job.source)
            try:
                with _input(job, its_kind) as file:
                    if form == CONLLU:
                        ids[number] = given_ids(file, its_kind, job.name)
                    marked = work.keep_heads and its_kind in (CONLLU, SPACY)
                    marked = marked and has_marks(file, job.name, its_kind == SPACY)
                    is_guess = kind is None
                    for piece in cut(
                        file,
                        job.source,
                        its_kind,
                        job=number,
                        name=job.name,
                        is_guess=is_guess,
                        whole=form != CONLLU,
                    ):
                        if number in failed:
                            break
                        yield replace(piece, marked=marked)
            except (OSError, ValueError) as error:
                yield Piece(number, its_kind, job.name, error=error)

    parts: Any = in_order(work, pieces(), n_process)
    with closing(parts):
        for number, its_parts in groupby(parts, key=lambda part: part.job):
            job = jobs[number]
            outcome: Counts | Exception
            try:
                how = {"input": job.name, "input_stamp": stamps[number], "options": options}
                given = ids.get(number, set())
                outcome = _write(job, form, its_parts, on_done, how, given)
            except (ProcessDied, BrokenPipeError):
                raise
            except (OSError, ValueError, RuntimeError) as error:
                failed.add(number)
                outcome = error
            yield outcome


def parse_file(nlp: Language, job: Job, form: str, **how: Any) -> Counts:
    """Parse a file into another: what ``parse_files``, which has the arguments, gives for one. What
    goes wrong is raised."""
    ((_, outcome),) = parse_files(nlp, [job], form, **how)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _write(
    job: Job,
    form: str,
    parts: Iterable[Part],
    on_done: Callable[[int], Any],
    how: dict[str, Any],
    given: set[str],
) -> Counts:
    counts = Counts()
    with _opened(job.target, how) as file:
        joined = Joined(file, form, given)
        for part in parts:
            if part.error is not None:
                raise part.error
            joined.add(part.written)
            counts.add(part.counts)
            on_done(part.n_bytes)
        joined.finish()
    return counts


@contextmanager
def _opened(path: Path | None, how: dict[str, Any]) -> Iterator[IO[bytes]]:
    """The file at an output, which replaces what is there when it is complete and recorded."""
    if path is None:
        if sys.stdout is None:
            raise ValueError("standard output is closed: name a file with --output")
        yield sys.stdout.buffer
        return
    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if is_replaced(path):
                check_record(path.parent)
            file = stack.enter_context(
                new_file(path, before_replace=lambda new: note(path, new, **how))
            )
        except OSError as error:
            raise OSError(f"{path} cannot be written: {error.strerror or error}.") from error
        yield file


def _input(job: Job, kind: str) -> AbstractContextManager[IO[bytes]]:
    """The open input of a job. CoNLL-U of a stream is stored first, to be read twice."""
    if not job.is_stream:
        assert job.source is not None
        return job.source.open("rb")
    if kind == SPACY:
        raise ValueError(f"A .spacy file cannot come from {job.name}: name a file")
    if job.source is None:
        if sys.stdin is None:
            raise ValueError("standard input is closed: name a file")
        opened: AbstractContextManager[IO[bytes]] = nullcontext(sys.stdin.buffer)
    else:
        opened = job.source.open("rb")
    if kind != CONLLU:
        return opened
    stored: Any = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    with opened as file:
        shutil.copyfileobj(file, stored)
    stored.seek(0)
    return stored
