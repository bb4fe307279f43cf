"""Parse files into others, piece by piece, with one process or several.

``FileReader`` cuts a file into pieces, ``FileParser`` parses pieces of one or several files, and
``FileWriter`` puts what comes of a file in its place. All that flows from the first to the last is
lazy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.pipe.doc_io import parsed_tokens
from spacy_nmparse.pipe.files import is_replaced
from spacy_nmparse.pipe.processes import ProcessDied, in_order
from spacy_nmparse.ud.jobs import Job, check_record, note, options_of, stamp
from spacy_nmparse.ud.parse_inputs import (
    LINES,
    TEXT,
    FileReader,
    Item,
    Piece,
    forget_store,
    unannotated,
)
from spacy_nmparse.ud.parse_outputs import CONLLU, ERROR, Counts, FileWriter, Part
from spacy_nmparse.ud.whole_tokens import pipe_words

NEW_STRINGS = 100_000  # with so many, the new words of plain text are forgotten


@dataclass
class FileParser:
    """Parses files.

    Args:
        nlp: The pipeline.
        form: The format of the outputs, one of FORMATS.
        confidence: Whether confidences are written, which parsers note if their ``confidence`` is
            on.
        n_process: Processes; the parses are the same with any number.
        batch_size: Documents of a batch; None: the pipeline's own.
        keep_going: Whether a document that fails, or a sentence of CoNLL-U, is written without a
            parse, with its error.
    """

    nlp: Language
    form: str = CONLLU
    _: KW_ONLY
    confidence: bool = False
    n_process: int = 1
    batch_size: int | None = None
    keep_going: bool = False
    _zone: ExitStack | None = field(default=None, init=False)
    _n_known: int = field(default=0, init=False)  # strings when new words were last forgotten

    def __call__(self, *files: FileReader) -> Iterator[Part]:
        """Parse files. The processes share their pieces.

        Yields:
            The parsed pieces, in order, as they are asked for. What is wrong with a file comes as
            the error of a part.

        Raises:
            ProcessDied: A RuntimeError, if a process died.
        """
        whole = self.form != CONLLU
        pieces = (one for i, file in enumerate(files) for one in file.pieces(i, whole))
        parts: Any = in_order(self.parse, pieces, self.n_process)
        try:
            with closing(parts):
                for part in parts:
                    part.ids = files[part.number].ids
                    yield part
        finally:
            self._open_zone(False)
            forget_store()

    def parse(self, piece: Piece) -> Part:
        """Parse a piece."""
        part = Part(self.form, piece.number, piece.n_bytes, error=piece.error)
        try:
            if part.error is None:
                self._open_zone(piece.kind in (TEXT, LINES))
                items = piece.items(self.nlp.vocab)
                part.counts.documents = len(items)
                part.fill(self._finished(piece.name, items, part.counts), self.confidence)
        except (OSError, ValueError, RuntimeError) as error:
            part.error = error
        return part

    def _open_zone(self, wanted: bool) -> None:
        """New words of plain text are forgotten from time to time. Other inputs bring strings of
        annotation that spaCy keeps references to."""
        strings = self.nlp.vocab.strings
        if self._zone is not None and (not wanted or len(strings) - self._n_known >= NEW_STRINGS):
            zone, self._zone = self._zone, None
            zone.close()
        if wanted and self._zone is None:
            self._zone = ExitStack()
            self._zone.enter_context(self.nlp.memory_zone())
            self._n_known = len(strings)

    def _finished(self, name: str, items: list[Item], counts: Counts) -> Iterator[tuple[Doc, bool]]:
        """Parsed documents with what the input says of them; whether each continues another."""
        for item, doc in self._parsed(name, items):
            item.finish(doc)
            counts.failed += ERROR in doc.user_data
            counts.words += len(parsed_tokens([doc])[0])
            if self.form == CONLLU:
                counts.other_texts += item.other_texts
            yield doc, item.continues

    def _parsed(self, name: str, items: list[Item]) -> Iterable[tuple[Item, Doc]]:
        given = (item.to_parse() for item in items)
        try:
            docs = pipe_words(self.nlp, given, self.batch_size)
            return list(zip(items, docs, strict=True))
        except Exception:  # of any component; what it was about is seen one by one
            return [pair for item in items for pair in self._alone(name, item)]

    def _alone(self, name: str, item: Item) -> list[tuple[Item, Doc]]:
        """The parse of a document; if it fails, those of its halves; if it has none, its words.

        Raises the error, with its place, unless parsing is to go on.
        """
        try:
            return [(item, doc) for doc in pipe_words(self.nlp, [item.to_parse()])]
        except Exception as error:
            if parts := item.halves():
                return [pair for part in parts for pair in self._alone(name, part)]
            if not self.keep_going:
                raise _located(name, item, error) from error
            given = item.to_parse()
            if isinstance(given, str):
                doc = Doc(self.nlp.vocab, words=given.split(" "))
            else:
                doc = unannotated(given)
            doc.user_data[ERROR] = f"{type(error).__name__}: {error}"
            return [(item, doc)]


def _located(name: str, item: Item, error: Exception) -> Exception:
    """The error with the place of the document, if it is one that is reported."""
    for kind in (OSError, ValueError, RuntimeError):
        if item.place and isinstance(error, kind):
            return kind(f"{name}, {item.place}: {error}")
    return error


def parse_files(
    parse: FileParser,
    jobs: Sequence[Job],
    *,
    kind: str | None = None,
    keep_heads: bool = False,
    on_done: Callable[[int], Any] = lambda n_bytes: None,
    options: dict[str, Any] | None = None,
) -> Iterator[tuple[Job, Counts | Exception]]:
    """Parse files into others. The folder of each output gets a record of how it was made (RECORD).

    Args:
        parse: Parses them.
        jobs: The files.
        kind: As of ``FileReader``, like the next one.
        keep_heads: Whether the heads of the inputs are kept.
        on_done: Called with the bytes of the input of each piece that is written.
        options: What ``options_of`` gives, if it is known: it reads the whole model.

    Yields:
        Each job, in order, and what was parsed or what went wrong: an OSError where a file cannot
        be read or written, a ValueError where the input is not what it should be, a RuntimeError
        where a process died. What was at the output before stays then.
    """
    if options is None:
        model = parse.nlp.path if any(job.target for job in jobs) else None
        options = options_of(parse.form, kind, parse.confidence, keep_heads, model)
    todo, alone = deque(jobs), False
    while todo:
        group = _group(todo, alone)
        files = [FileReader(job.source, kind, keep_heads=keep_heads) for job in group]
        how = [
            {"input": job.name, "input_stamp": stamp(job.source), "options": options}
            for job in group
        ]
        parts: Any = parse(*files)
        try:
            for number, own in groupby(parts, key=lambda part: part.number):
                outcome = _outcome(group[number], own, how[number], on_done)
                files[number].given_up = isinstance(outcome, Exception)
                yield todo.popleft(), outcome
        except ProcessDied as error:
            # Which file it died of is seen when each is parsed by itself.
            if len(group) == 1 or todo[0].target is None:
                yield todo.popleft(), error
            alone = True
        finally:
            parts.close()


def parse_file(
    nlp: Language, job: Job, form: str, *, kind: str | None = None, **how: Any
) -> Counts:
    """Parse a file into another: what ``parse_files`` gives for one; how: as of ``FileParser``.
    What goes wrong is raised."""
    ((_, outcome),) = parse_files(FileParser(nlp, form, **how), [job], kind=kind)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _group(todo: Iterable[Job], alone: bool) -> list[Job]:
    """The jobs that are parsed together. A stream cannot be read twice: it comes alone."""
    group: list[Job] = []
    for job in todo:
        if group and (alone or job.is_stream or group[0].is_stream):
            break
        group.append(job)
    return group


def _outcome(
    job: Job, parts: Iterable[Part], how: dict[str, Any], on_done: Callable[[int], Any]
) -> Counts | Exception:
    def prepare(target: Path) -> None:
        if is_replaced(target):
            check_record(target.parent)

    try:
        return FileWriter(job.target, prepare, partial(note, **how)).write(parts, on_done)
    except (ProcessDied, BrokenPipeError):
        raise
    except (OSError, ValueError, RuntimeError) as error:
        return error
