"""One model, many ways of calling it: are the trees the same?

    python -m tests.same training/demo/nm_parser/model-best corpus/demo/test.spacy --threads 8

parses a file's documents one by one (``nlp(doc)``), then in batches of several sizes, in other
orders, with several processes, and with several threads that share the pipeline, and counts the
documents whose tree differs from the first. Without a model and a file: a small model of each
factory, trained for a moment, and random documents. Prints one line per way; the exit status is 1
if anything differs.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from thinc.api import fix_random_seed

from spacy_nmparse.pipe.confidence import confidences
from tests.pipe.common import SMALL, bare, overfitted, parser_of, random_doc, tree

BATCH_SIZES = (1, 2, 7, 64, 1000)
WIDTHS = (1, 4)

Parsed = tuple[list[tuple[str, int, str, bool]], Any]
#: name, function from (pipeline, documents) to the parsed documents in the order of the documents
Way = tuple[str, Callable[[Language, list[Doc]], list[Doc]]]


def in_order(nlp: Language, docs: list[Doc], order: Sequence[int], **options: Any) -> list[Doc]:
    """Parse documents in another order; they come back in theirs."""
    parsed = list(nlp.pipe([docs[i] for i in order], **options))
    return [doc for _, doc in sorted(zip(order, parsed, strict=True), key=lambda pair: pair[0])]


def shuffled(nlp: Language, docs: list[Doc], seed: int, **options: Any) -> list[Doc]:
    """Parse documents in a random order; they come back in theirs."""
    order = list(range(len(docs)))
    random.Random(seed).shuffle(order)
    return in_order(nlp, docs, order, **options)


def threaded(nlp: Language, docs: list[Doc], n_threads: int) -> list[list[Doc]]:
    """What each of several threads finds, which parse copies of all documents at the same time:
    every second thread one by one, the others in batches, each in an order of its own.

    Raises whatever a thread raises.
    """
    found: list[list[Doc]] = [[] for _ in range(n_threads)]
    errors: list[Exception] = []
    ready = threading.Barrier(n_threads)
    copies = [[bare_copy(doc) for doc in docs] for _ in range(n_threads)]

    def work(number: int) -> None:
        order = list(range(len(docs)))
        random.Random(number).shuffle(order)
        ready.wait()
        try:
            if number % 2:
                found[number] = in_order(nlp, copies[number], order, batch_size=1 + number)
            else:
                parsed = {i: nlp(copies[number][i]) for i in order}
                found[number] = [parsed[i] for i in range(len(docs))]
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]
    return found


def bare_copy(doc: Doc) -> Doc:
    """The same tokens, with the sentence starts that are known."""
    copy = bare(doc)
    for token, start in zip(copy, [token.is_sent_start for token in doc], strict=True):
        if start is not None and token.i:
            token.is_sent_start = start
    return copy


def ways(n_process: int) -> Iterator[Way]:
    """The ways of calling a pipeline, beside documents one by one."""
    for size in BATCH_SIZES:
        yield f"batch {size}", lambda nlp, docs, n=size: list(nlp.pipe(docs, batch_size=n))
    for seed in (1, 2):
        yield (
            f"batch 32, order {seed}",
            lambda nlp, docs, seed=seed: shuffled(nlp, docs, seed, batch_size=32),
        )
    if n_process > 1:
        yield (
            f"{n_process} processes",
            lambda nlp, docs: list(nlp.pipe(docs, batch_size=16, n_process=n_process)),
        )


def parsed(docs: Sequence[Doc]) -> list[Parsed]:
    """Trees and confidences."""
    return [(tree(doc), confidences(doc)) for doc in docs]


def n_different(found: list[Parsed], expected: list[Parsed]) -> int:
    """Documents whose trees or confidences differ."""
    assert len(found) == len(expected)
    count = 0
    for (tree_, sure), (expected_tree, expected_sure) in zip(found, expected, strict=True):
        same = tree_ == expected_tree and (sure is None) == (expected_sure is None)
        if same and sure is not None:
            same = bool((sure == expected_sure).all())
        count += not same
    return count


def compare(
    nlp: Language, docs: list[Doc], n_process: int = 1, n_threads: int = 0
) -> Iterator[tuple[str, int, int]]:
    """For each way: its name, how many documents were parsed, how many came out different."""
    expected = parsed([nlp(bare_copy(doc)) for doc in docs])
    for name, way in ways(n_process):
        found = parsed(way(nlp, [bare_copy(doc) for doc in docs]))
        yield name, len(docs), n_different(found, expected)
    if n_threads:
        results = threaded(nlp, docs, n_threads)
        different = sum(n_different(parsed(result), expected) for result in results)
        yield f"{n_threads} threads", n_threads * len(docs), different


def small_models() -> Iterator[tuple[str, Language, list[Doc]]]:
    """A small model of each factory and random documents."""
    for factory in SMALL:
        fix_random_seed(0)
        nlp = overfitted(factory=factory)
        rng = random.Random(0)
        docs = [random_doc(nlp.vocab, rng, rng.randrange(40)) for _ in range(200)]
        yield factory, nlp, docs


def read(model: str, path: Path, limit: int) -> tuple[str, Language, list[Doc]]:
    """A model and the first documents of a file."""
    nlp = spacy.load(model)
    docs = [bare(doc) for doc in DocBin().from_disk(path).get_docs(nlp.vocab)]
    return model, nlp, docs[:limit] if limit else docs


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", help="folder or package of a trained pipeline")
    parser.add_argument("data", nargs="?", type=Path, help=".spacy file")
    parser.add_argument("--limit", type=int, default=0, help="documents to take; 0: all")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--widths", type=int, nargs="+", default=WIDTHS, help="of the beam")
    options = parser.parse_args(arguments)
    if options.model and not options.data:
        parser.error("a model needs a .spacy file")
    if options.model:
        pipelines = iter([read(options.model, options.data, options.limit)])
    else:
        pipelines = small_models()
    total = 0
    print("| Model | Search | Way | Documents | Different |\n| --- | --- | --- | ---: | ---: |")
    for name, nlp, docs in pipelines:
        for width in options.widths:
            for confidence in (False, True):
                parser_of(nlp).beam_width = width
                parser_of(nlp).confidence = confidence
                search = f"beam {width}" if width > 1 else "greedy"
                search += " with confidences" * confidence
                for way, n_docs, different in compare(
                    nlp, docs, options.processes, options.threads
                ):
                    total += different
                    print(f"| {name} | {search} | {way} | {n_docs} | {different} |", flush=True)
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
