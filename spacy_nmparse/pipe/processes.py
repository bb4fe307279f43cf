"""Work that several processes share, in order, and an error when one of them dies. When this one
dies, by whatever signal, the others end: they see the end of a pipe.

``nlp.pipe(n_process=...)`` sends each document to a process and back as spaCy saves it, which
takes longer than to parse it. And where processes are forked (on Linux up to Python 3.13), it waits
for the answer of a worker that was killed, for ever. See docs/speed.md and docs/reliability.md.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any, TypeVar

from spacy import util
from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens.underscore import Underscore

from spacy_nmparse.pipe.packed import Packed, pack, unpack

Given = TypeVar("Given")
Made = TypeVar("Made")
AHEAD = 2  # items that wait for each process
_work: Callable[[Any], Any]  # in a worker process


class ProcessDied(RuntimeError):
    """A worker process was killed, or ran out of memory."""


def in_order(
    work: Callable[[Given], Made], items: Iterable[Given], n_process: int
) -> Iterator[Made]:
    """Do the same with each item, in several processes: what ``map(work, items)`` gives, in order.

    Args:
        work: What is done. It goes to each process once, as it is when the first item comes; where
            processes are spawned, it is pickled.
        items: The items, which are pickled. At most AHEAD for each process, and one, are read
            before the result of the earliest is taken.
        n_process: Processes; 1: this one.

    Yields:
        The results.

    Raises:
        ValueError: If n_process is below 1.
        ProcessDied: If a process died (was killed, ran out of memory). All others are ended.
    """
    if n_process < 1:
        raise ValueError(f"Work needs at least 1 process, not {n_process}.")
    if n_process == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[Made]] = deque()
    done = 0
    ends = Pipe(duplex=False)
    pool = ProcessPoolExecutor(n_process, None, _start, (work, Underscore.get_state(), ends))
    try:
        for item in items:
            waiting.append(pool.submit(_call, item))
            if len(waiting) > AHEAD * n_process:
                yield waiting.popleft().result()
                done += 1
        while waiting:
            yield waiting.popleft().result()
            done += 1
    except BrokenProcessPool as error:
        raise ProcessDied(
            f"A process died, after {done} parts of the work had come back: it was killed, or ran "
            f"out of memory. Use fewer processes or smaller batches."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)
        for end in ends:
            end.close()


def _start(
    work: Callable[[Any], Any],
    underscore: tuple[dict, dict, dict],
    ends: tuple[Connection, Connection],
) -> None:
    global _work
    _work = work
    Underscore.load_state(underscore)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)  # the handler is the parent's
    reader, writer = ends
    writer.close()  # of this process: the parent's is the last
    Thread(target=_end_with_parent, args=(reader,), daemon=True).start()


def _end_with_parent(reader: Connection) -> None:
    """End this process at the end of the pipe: the parent has died."""
    try:
        reader.recv_bytes()
    finally:
        os._exit(1)


def _call(item: Any) -> Any:
    return _work(item)


def pipe_in_processes(
    nlp: Language, texts: Iterable[str | Doc], *, n_process: int, batch_size: int | None = None
) -> Iterator[Doc]:
    """Parse a stream of documents with several processes: what ``nlp.pipe`` gives, in order.

    Documents go to the processes and back as arrays of numbers, a batch at a time; those that come
    out are always new ones.

    Args:
        nlp: The pipeline.
        texts: Texts or documents.
        n_process: Processes.
        batch_size: Documents that go to a process together; None: the pipeline's own.

    Yields:
        The parsed documents.

    Raises:
        ValueError: If n_process is below 1.
        ProcessDied: A RuntimeError, if a process died. All others are ended.
    """
    if n_process == 1:
        yield from nlp.pipe(texts, batch_size=batch_size)
        return
    batches = map(_given, util.minibatch(texts, batch_size or nlp.batch_size))
    for packed in in_order(partial(_parsed, nlp), batches, n_process):
        yield from unpack(packed, nlp.vocab)


#: A batch: texts, None for each document; the documents.
_Batch = tuple[list["str | None"], Packed]


def _given(batch: list[str | Doc]) -> _Batch:
    texts = [text if isinstance(text, str) else None for text in batch]
    return texts, pack([doc for doc in batch if isinstance(doc, Doc)])


def _parsed(nlp: Language, batch: _Batch) -> Packed:
    texts, packed = batch
    docs = unpack(packed, nlp.vocab)
    given = [next(docs) if text is None else text for text in texts]
    return pack(list(nlp.pipe(given, batch_size=len(given))))
