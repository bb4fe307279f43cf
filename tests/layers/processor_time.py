"""How much processor time training and parsing take in the thread that does them, and in others.

    python -m tests.layers.processor_time fork

prints a JSON object with a list for each factory: the seconds of that thread, those of all other
threads of its process, and the threads that NumPy's own products may use, before and after (null:
this NumPy does not say).
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import fix_random_seed

FACTORIES = ("nm_parser", "nl_covington_parser", "swap_parser")
#: Seconds of the thread; of less, little could be said of others.
LEAST = 0.2
WHERE = ("main", "thread", *multiprocessing.get_all_start_methods())


def numpys_threads() -> int | None:
    """How many threads NumPy's own products may use; None: it does not say."""
    library = ctypes.CDLL(numpy._core._multiarray_umath.__file__)
    getter = getattr(library, "scipy_openblas_get_num_threads64_", None)
    return None if getter is None else int(getter())


def measure(factory: str) -> list[Any]:
    """Train and parse with a parser of the factory's sizes, for LEAST or longer; the figures."""
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory)
    words = ["the", "dog", "sees", "a", "cat"] * 10
    heads = [5 * (i // 5) + head for i, head in enumerate([1, 2, 2, 4, 2] * 10)]
    labels = ["det", "nsubj", "ROOT", "det", "obj"] * 10
    gold = Doc(nlp.vocab, words=words, heads=heads, deps=labels)
    docs = [Doc(nlp.vocab, words=words) for _ in range(20)]
    optimizer = nlp.initialize(lambda: [Example(docs[0], gold)])
    numpys = numpys_threads()
    whole, begin, own = time.process_time(), time.thread_time(), 0.0
    while own < LEAST:
        nlp.update([Example(doc, gold) for doc in docs], sgd=optimizer)
        list(nlp.pipe(docs))
        own = time.thread_time() - begin
    whole = time.process_time() - whole
    return [own, whole - own, numpys, numpys_threads()]


def measure_all() -> dict[str, list[Any]]:
    """By factory."""
    return {factory: measure(factory) for factory in FACTORIES}


def main(where: str) -> None:
    """Measure in this thread, in another one, or in a process started by the method `where`."""
    if where == "main":
        figures = measure_all()
    elif where == "thread":
        with ThreadPoolExecutor(1) as threads:
            figures = threads.submit(measure_all).result()
    else:
        measure(FACTORIES[0])  # a fork inherits what this has left
        with multiprocessing.get_context(where).Pool(1) as processes:
            figures = processes.apply(measure_all)
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
