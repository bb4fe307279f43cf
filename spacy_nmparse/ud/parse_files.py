"""Parse files: which ones, into which files, and one after the other in bounded memory."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from spacy_nmparse.pipe.processes import pipe_in_processes
from spacy_nmparse.ud.parse_inputs import TEXT, Item, kind_of, read_items
from spacy_nmparse.ud.parse_outputs import FORMATS, SPACY, open_writer

PER_ZONE = 1000  # documents after which new words are forgotten
STANDARD = "-"  # standard input or output
PARSED = (".txt", ".conllu", ".conll", ".spacy")  # the files of a folder that are parsed


@dataclass(frozen=True)
class Job:
    """An input, and where its parses go; None: standard input, standard output."""

    source: Path | None
    target: Path | None

    @property
    def name(self) -> str:
        """What messages call the input."""
        return "standard input" if self.source is None else str(self.source)


@dataclass
class Counts:
    """What has been parsed."""

    documents: int = 0
    sentences: int = 0
    words: int = 0


def plan(inputs: Sequence[str], output: str, form: str) -> list[Job]:
    """Find out which file is parsed into which.

    Args:
        inputs: Files, folders, or "-" for standard input. Of a folder all .txt, .conllu and .spacy
            files are parsed, those of folders in it too.
        output: A file, a folder, or "-" for standard output. It must be a folder where there are
            several inputs or a folder among them; the files in it have the names and places of the
            inputs.
        form: One of FORMATS.

    Returns:
        The jobs.

    Raises:
        FileNotFoundError: If an input is missing.
        ValueError: If two inputs would have the same output, an input would be overwritten, an
            output would not be in the folder, or .spacy is asked for on standard output.
    """
    if output == STANDARD and form == SPACY:
        raise ValueError("A .spacy file cannot go to standard output: name one with --output.")
    found: list[tuple[Path | None, Path]] = []  # the input, and its place below the output
    for given in inputs:
        path = Path(given)
        if given == STANDARD:
            found.append((None, Path("stdin")))
        elif path.is_dir():
            files = [one for one in sorted(path.rglob("*")) if one.suffix.lower() in PARSED]
            if not files:
                raise FileNotFoundError(f"The folder {path} has no {', '.join(PARSED)} file.")
            found += [(one, one.relative_to(path)) for one in files if one.is_file()]
        elif path.is_file():
            found.append((path, Path(path.name)))
        else:
            raise FileNotFoundError(f"There is no file or folder {path}.")
    if output == STANDARD:
        return [Job(source, None) for source, _ in found]
    target = Path(output)
    single = len(found) == 1 and not Path(inputs[0]).is_dir()
    if single and not target.is_dir() and not output.endswith(("/", "\\")):
        jobs = [Job(found[0][0], target)]
    else:
        if target.is_file():
            raise ValueError(f"There are several inputs, so {target} must be a folder.")
        jobs = [Job(one, target / place.with_suffix(FORMATS[form])) for one, place in found]
        for job in jobs:
            assert job.target is not None
            if not job.target.parent.resolve().is_relative_to(target.resolve()):
                raise ValueError(f"{job.target} is not in {target}: a link leads out of it.")
    return _checked(jobs)


def _checked(jobs: list[Job]) -> list[Job]:
    targets: dict[Path, Job] = {}
    sources = {job.source.resolve() for job in jobs if job.source}
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


def is_done(job: Job, model: Path | None) -> bool:
    """Whether the output is there, and newer than the input and the model.

    Args:
        job: The job.
        model: The pipeline's folder; None: it is not known.
    """
    if job.source is None or job.target is None or not job.target.is_file():
        return False
    sources = [job.source, *((model / "meta.json", model / "config.cfg") if model else ())]
    made = job.target.stat().st_mtime_ns
    return all(made > path.stat().st_mtime_ns for path in sources if path.is_file())


def parse_file(
    nlp: Language,
    job: Job,
    form: str,
    *,
    kind: str | None = None,
    confidence: bool = False,
    n_process: int = 1,
    batch_size: int | None = None,
    on_read: Callable[[int], Any] | None = None,
) -> Counts:
    """Parse a file into another, document by document.

    Args:
        nlp: The pipeline.
        job: The files.
        form: One of FORMATS.
        kind: One of KINDS; None: by the name of the input, plain text where it has none.
        confidence: Whether confidences are written.
        n_process: Processes.
        batch_size: Documents of a batch; None: the pipeline's own.
        on_read: Called with the number of bytes that were read since the last call.

    Returns:
        What was parsed.

    Raises:
        OSError: If a file cannot be read or written. What was at the output before stays.
        ValueError: If the input is not what it should be; so does it then.
        RuntimeError: If a process died; so does it then.
    """
    counts = Counts()
    kind = kind or (kind_of(job.source) if job.source else TEXT)
    doc_id = job.source.stem.replace(" ", "_") if job.source else "stdin"
    opened = job.source.open("rb") if job.source else nullcontext(sys.stdin.buffer)
    with opened as file, open_writer(job.target, form, confidence) as writer:
        watched: Any = _Watched(file, on_read) if on_read else file
        if on_read and job.source and kind == SPACY:  # is read at once
            on_read(job.source.stat().st_size)
        items = read_items(watched, kind, nlp.vocab, job.name, doc_id)
        # New words of plain text are forgotten from time to time. Other inputs bring strings of
        # annotation that spaCy keeps references to.
        forgets = kind == TEXT and n_process == 1
        for chunk in minibatch(items, PER_ZONE) if forgets else [items]:
            with nlp.memory_zone() if forgets else nullcontext():
                for doc in parsed(nlp, chunk, n_process, batch_size):
                    writer.write(doc)
                    counts.documents += 1
                    counts.words += sum(not token.is_space for token in doc)
        counts.sentences = writer.n_sents
    return counts


def parsed(
    nlp: Language, items: Iterable[Item], n_process: int, batch_size: int | None
) -> Iterator[Doc]:
    """Parse documents, in order.

    Args:
        nlp: The pipeline.
        items: The documents.
        n_process: Processes.
        batch_size: Documents of a batch; None: the pipeline's own.

    Yields:
        The parsed documents, completed.
    """
    waiting: deque[Item] = deque()

    def docs() -> Iterator[str | Doc]:
        for item in items:
            waiting.append(item)
            yield item.doc

    stream: Iterator[Doc]
    if n_process > 1:
        stream = pipe_in_processes(nlp, docs(), n_process=n_process, batch_size=batch_size)
    else:
        stream = nlp.pipe(docs(), batch_size=batch_size)
    with closing(stream):  # type: ignore[type-var]
        for doc in stream:
            waiting.popleft().finish(doc)
            yield doc


class _Watched:
    """A file that tells how much of it was read."""

    def __init__(self, file: IO[bytes], on_read: Callable[[int], Any]) -> None:
        self._file = file
        self._on_read = on_read

    def readline(self, size: int = -1) -> bytes:
        line = self._file.readline(size)
        self._on_read(len(line))
        return line

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")
