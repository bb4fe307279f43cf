"""``nmparse parse``: text, CoNLL-U and .spacy files in, CoNLL-U, JSON or .spacy files out."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer
from spacy.language import Language
from tqdm import tqdm

from spacy_nmparse.analysis.doubt import by_doubt
from spacy_nmparse.cli.asked import asks
from spacy_nmparse.cli.console import (
    CODE,
    MODEL,
    check_absent,
    check_choice,
    fail,
    failures,
    load,
)
from spacy_nmparse.cli.plan import PARSED, PLUS, STANDARD, plan
from spacy_nmparse.pipe.files import write_files
from spacy_nmparse.pipe.members import parsers_of
from spacy_nmparse.terminal import shown
from spacy_nmparse.ud.jobs import Job, is_done, options_of
from spacy_nmparse.ud.parse_files import FileParser, parse_files
from spacy_nmparse.ud.parse_inputs import KINDS
from spacy_nmparse.ud.parse_outputs import CONLLU, FORMATS, Counts
from spacy_nmparse.wording import counted


@dataclass(frozen=True)
class Given:
    """The arguments and options."""

    model: str = MODEL
    inputs: list[str] = typer.Argument(
        ..., help="Text, CoNLL-U and .spacy files, folders of them; - reads standard input"
    )
    output: str = typer.Option(
        "-", "--output", "-o", help="A file; of several inputs a folder; -: standard output"
    )
    form: str | None = typer.Option(
        None, "--format", "-f", help="'conllu', 'json' or 'spacy'; else by the output's name"
    )
    kind: str | None = typer.Option(
        None,
        "--input-format",
        help="'text', 'lines' (each a document), 'conllu' or 'spacy'; else by the input's name",
    )
    confidence: bool = typer.Option(
        False, "--confidence", help="Write how sure the parser is of each head and label"
    )
    keep_heads: bool = typer.Option(
        False, "--keep-heads", help="Keep the heads and labels that the input has; parse the rest"
    )
    n_process: int = typer.Option(1, "--n-process", min=1, help="Processes")
    batch_size: int = typer.Option(
        0, "--batch-size", min=0, help="Documents of a batch; 0: the pipeline's own"
    )
    keep_going: bool = typer.Option(
        False, "--keep-going", help="Write documents that fail without a parse, with the error"
    )
    force: bool = typer.Option(
        False, "--force", help="Parse also what is parsed already, and overwrite any file"
    )
    sort: str | None = typer.Option(
        None, "--sort", help="'doubt': the sentences of all inputs, the least sure ones first"
    )
    code: Path | None = CODE


@asks(Given)
def run(given: Given) -> None:
    """Parse text, CoNLL-U and .spacy files into CoNLL-U, JSON or .spacy files."""
    if given.sort is None:
        _parse(given)
        return
    check_choice("--sort", given.sort, ("doubt",))
    check_choice("--format (with --sort)", given.form or _form_of(given.output), (CONLLU,))
    _parse_by_doubt(given)


def _parse(given: Given) -> None:
    form = given.form or _form_of(given.output)
    check_choice("--format", form, FORMATS)
    check_choice("--input-format", given.kind, KINDS)
    with failures():
        jobs = _jobs(given, form)
    nlp = load(given.model)
    for setting in ("confidence", "keep_heads"):
        if getattr(given, setting):
            _switch_on(nlp, given.model, setting)
    reading: Any = {"kind": given.kind, "keep_heads": given.keep_heads}
    how = {name: getattr(given, name) for name in ("confidence", "n_process", "keep_going")}
    parser = FileParser(nlp, form, batch_size=given.batch_size or None, **how)
    todo, refused, options = jobs, 0, None
    if not given.force and given.output != STANDARD:
        options = options_of(form, confidence=given.confidence, model=nlp.path, **reading)
        todo, refused = _left_to_do(jobs, options)
    start = time.perf_counter()
    total, failed = Counts(), 0
    with _progress(todo) as on_done:
        try:
            found = parse_files(parser, todo, on_done=on_done, options=options, **reading)
            for job, outcome in found:
                _tell(job, outcome)
                if isinstance(outcome, Exception):
                    failed += 1
                else:
                    total.add(outcome)
        except BrokenPipeError:  # nobody reads standard output any more
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
    seconds = time.perf_counter() - start
    if total.words:
        _say(
            f"{len(todo) - failed} of {counted(len(jobs), 'input')} parsed: "
            f"{counted(total.sentences, 'sentence')}, {counted(total.words, 'word')}, "
            f"{total.words / seconds:,.0f} words/s"
        )
    if total.failed:
        _say(f"Warning: {counted(total.failed, 'document')} could not be parsed: see parse_error")
    if failed or refused:
        raise typer.Exit(1)


def _parse_by_doubt(given: Given) -> None:
    """Parse the inputs, and write all sentences into one file, the least sure ones first."""
    if given.output != STANDARD and not given.force:
        check_absent(Path(given.output))
    if given.output == STANDARD and sys.stdout is None:
        fail("standard output is closed: name a file with --output.")
    status = 0
    with tempfile.TemporaryDirectory() as folder, failures():
        try:
            _parse(replace(given, output=f"{folder}/", form=CONLLU, confidence=True, force=True))
        except typer.Exit as end:  # 1: an input cannot be parsed, others are
            if (status := end.exit_code) != 1:
                raise
        jobs = plan(given.inputs, f"{folder}/", CONLLU)
        files = [(job.name, job.target) for job in jobs if job.target and job.target.is_file()]
        found = "".join(by_doubt(files)).encode("utf-8", "backslashreplace")
        if given.output == STANDARD:
            sys.stdout.buffer.write(found)
        elif files:
            write_files({Path(given.output): found})
    if status:
        raise typer.Exit(status)


def _jobs(given: Given, form: str) -> list[Job]:
    """The jobs; ValueError, if an output's format or an input's kind cannot be."""
    jobs = plan(given.inputs, given.output, form, _say_skipped)
    suffix = Path(given.output).suffix
    known = ("", ".conll", PLUS, ".json", *FORMATS.values())
    is_guess = given.form is None and suffix.lower() not in known
    if is_guess and jobs[0].target == Path(given.output):
        raise ValueError(
            f"{given.output}: what is {suffix}? Name a format ({', '.join(FORMATS)}) "
            "with --format, or a .conllu, .jsonl or .spacy file."
        )
    for job in jobs:
        if given.kind == "spacy" and job.is_stream:
            raise ValueError(f"A .spacy file cannot come from {job.name}: name a file.")
    return jobs


def _left_to_do(jobs: list[Job], options: dict[str, Any]) -> tuple[list[Job], int]:
    """The jobs that are not done already, and how many are refused, since their output is another
    file."""
    todo, refused = [], 0
    for job in jobs:
        try:
            if not is_done(job, options):
                todo.append(job)
                continue
            _say(f"{job.target} is there already, made of {job.name} (--force: parse again)")
        except FileExistsError as error:
            refused += 1
            _say(f"Error: {error}.")
    return todo, refused


def _tell(job: Job, outcome: Counts | Exception) -> None:
    """Say what went wrong with an input, or what its output lacks."""
    if isinstance(outcome, Exception):
        text = str(outcome)
        where = "" if job.name in text else f"{job.name}: "
        kept = f" Nothing was written to {job.target}." if job.target else ""
        end = "" if text.endswith((".", "?")) else "."
        _say(f"Error: {where}{text}{end}{kept}")
        return
    if not outcome.documents:
        _say(f"Warning: {job.name} is empty, and so is its output.")
    if outcome.other_texts:
        n_texts = counted(len(outcome.other_texts), "sentence")
        _say(
            f"Warning: {job.name}, line {outcome.other_texts[0]}: # text is not that of the words; "
            f"it is written anew ({n_texts})."
        )


def _form_of(output: str) -> str:
    """The format that a file's name asks for."""
    suffix = Path(output).suffix.lower()
    forms = {end: form for form, end in FORMATS.items()}
    return {**forms, ".json": "json"}.get(suffix, CONLLU)


def _switch_on(nlp: Language, model: str, setting: str) -> None:
    parsers = parsers_of(nlp).values()
    if not parsers:
        option = setting.replace("_", "-")
        fail(f"{model} has no parser of spacy-nmparse: --{option} does nothing with others.")
    for parser in parsers:
        setattr(parser, setting, True)


def _say(text: str) -> None:
    tqdm.write(shown(text), file=sys.stderr)


def _say_skipped(folder: Path, n_written: int, n_others: int) -> None:
    if n_written:
        _say(f"{folder}: {counted(n_written, 'file')} that this command wrote earlier: not parsed")
    if n_others:
        _say(f"{folder}: {counted(n_others, 'other file')} left out (parsed: {', '.join(PARSED)})")


@contextmanager
def _progress(jobs: Sequence[Job]) -> Iterator[Callable[[int], Any]]:
    """A bar on a terminal that counts the bytes of the inputs that were parsed; none elsewhere."""
    if not jobs or not sys.stderr.isatty():
        yield lambda n_bytes: None
        return
    sizes = [0 if job.source is None else job.source.stat().st_size for job in jobs]
    total = None if any(job.is_stream for job in jobs) else sum(sizes)
    tqdm.monitor_interval = 0  # no thread: processes are forked
    with tqdm(total=total, unit="B", unit_scale=True, file=sys.stderr, leave=False) as bar:
        yield bar.update
