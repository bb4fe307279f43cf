"""Several processes that parse one stream of documents, and say so when one of them dies.

``nlp.pipe(n_process=...)`` does not: where processes are forked (on Linux up to Python 3.13), it
waits for the answer of a worker that was killed, for ever. See docs/reliability.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from spacy import util
from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens.underscore import Underscore

AHEAD = 2  # batches that wait for each process
_nlp: Language  # in a worker process: the pipeline


def pipe_in_processes(
    nlp: Language, texts: Iterable[str | Doc], *, n_process: int, batch_size: int | None = None
) -> Iterator[Doc]:
    """Parse a stream of documents with several processes: what ``nlp.pipe`` gives, in order.

    Args:
        nlp: the pipeline.
        texts: texts or documents.
        n_process: processes.
        batch_size: documents that go to a process together; None: the pipeline's own.

    Raises:
        ValueError: n_process is below 1.
        RuntimeError: a process died (was killed, ran out of memory). All others are ended.
    """
    if n_process < 1:
        raise ValueError(f"pipe_in_processes needs at least 1 process, not {n_process}.")
    batches = util.minibatch(texts, batch_size or nlp.batch_size)
    waiting: deque[Future[list[bytes]]] = deque()
    done = 0
    pool = ProcessPoolExecutor(n_process, None, _start, (nlp, Underscore.get_state()))
    try:
        for batch in batches:
            data = [text.to_bytes() if isinstance(text, Doc) else text for text in batch]
            waiting.append(pool.submit(_parse, data))
            if len(waiting) > AHEAD * n_process:
                for doc in waiting.popleft().result():
                    done += 1
                    yield Doc(nlp.vocab).from_bytes(doc)
        while waiting:
            for doc in waiting.popleft().result():
                done += 1
                yield Doc(nlp.vocab).from_bytes(doc)
    except BrokenProcessPool as error:
        raise RuntimeError(
            f"A process that parsed documents died, after {done} of them had come back: it was "
            f"killed, or ran out of memory. Give it smaller batches or fewer neighbours."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _start(nlp: Language, underscore: tuple[dict, dict, dict]) -> None:
    global _nlp
    _nlp = nlp
    Underscore.load_state(underscore)


def _parse(data: list[str | bytes]) -> list[bytes]:
    texts = [Doc(_nlp.vocab).from_bytes(x) if isinstance(x, bytes) else x for x in data]
    return [doc.to_bytes() for doc in _nlp.pipe(texts)]
