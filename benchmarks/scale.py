"""Measure words per second and memory of the parsers by the size of what they parse.

    python -m benchmarks.scale
    python -m benchmarks.scale --systems nm_parser --axes sentence document
    python -m benchmarks.scale --models training/demo/nm_parser/model-best

Four axes; each point is measured in a process of its own, which is forked (Linux, macOS):

    sentence  words of a sentence, 10 to 2,000: one sentence a document, its boundaries are preset
    document  words of a document, 10 to 1,000,000, in sentences of 25 words, which are preset
    labels    labels that the parser has, 5 to 500
    beam      width of the beam, 1 to 64

The parser alone is timed, in processor time; token vectors are given. Memory is what the process
holds at most while it parses, above what it held before, when documents and token vectors were
there and a document of 200 words had been parsed. It is read in a run of its own, the first one.

By default the parsers of configs/ are trained first, for a few epochs, on the Turkish Web Treebank
of the package turkish-treebanks. Sentences and documents of a length are cut from its words, one
after the other: they are not well-formed. `labels` takes the trained parser's first labels, or adds
some that it will never choose.

Result: a table, benchmarks/runs/scale/TREEBANK.json, and, where matplotlib is installed, a
picture of each axis next to it (`nmparse plot scale`).
"""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy
import psutil
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from benchmarks.common import RUNS, WORK, command_line, complain, record
from benchmarks.formats import markdown
from benchmarks.speed import PARSER, prepare_data, train
from spacy_nmparse.scorers.features import Features
from spacy_nmparse.scorers.words import recurrent_layers
from spacy_nmparse.ud.evaluate import read_docs
from spacy_nmparse.ud.records import dump

MIB = 2**20
SYSTEMS = ("nm_parser", "swap_parser", "nl_covington_parser")
POINTS: dict[str, tuple[int, ...]] = {
    "sentence": (10, 20, 50, 100, 200, 500, 1_000, 2_000),
    "document": (10, 100, 1_000, 10_000, 100_000, 1_000_000),
    "labels": (5, 10, 20, 50, 100, 200, 500),
    "beam": (1, 2, 4, 8, 16, 32, 64),
}
#: Words of a sentence where another thing is varied.
LENGTH = 25
#: Words whose token vectors are computed; from there on they are repeated.
CHUNK = 10_000
#: The pipeline that is measured, and the words; forked processes find them here.
SUBJECT: list[tuple[Language, list[str]]] = []


def read_words(nlp: Language, corpus: Path) -> list[str]:
    """Read the words of a corpus.

    Args:
        nlp: A pipeline, for its vocab.
        corpus: A .spacy file.

    Returns:
        Its words, without spaces.
    """
    return [token.text for doc in read_docs(nlp, corpus) for token in doc if not token.is_space]


def make_docs(nlp: Language, words: Sequence[str], size: int, total: int, length: int) -> list[Doc]:
    """Make documents of words in their order, with token vectors.

    Args:
        nlp: The pipeline; its components before the parser are run.
        words: The words, repeated as needed.
        size: Words per document.
        total: The least number of words in all.
        length: Words per sentence; its boundaries are preset.

    Returns:
        The documents.
    """
    source = itertools.islice(itertools.cycle(words), max(size, total))
    texts = list(itertools.islice(source, CHUNK))
    read = Doc(nlp.vocab, words=texts)
    for name, component in nlp.pipeline:
        if name == PARSER:
            break
        read = component(read)
    docs = []
    for start in range(0, total, size):
        places = numpy.arange(start, start + size) % len(texts)
        starts = [place % length == 0 for place in range(size)]
        doc = Doc(nlp.vocab, words=[texts[place] for place in places], sent_starts=starts)
        doc.tensor = read.tensor[places]
        docs.append(doc)
    return docs


def with_labels(nlp: Language, n: int) -> Any:
    """Make a parser with another number of labels.

    Args:
        nlp: A pipeline with a trained parser.
        n: How many labels it shall have.

    Returns:
        A parser that scores moves, and the labels that both have, as the trained one does; it never
        chooses others.
    """
    old: Any = nlp.get_pipe(PARSER)
    old_labels = old.label_data["labels"]
    labels = [label for label in old_labels if label not in ("ROOT", "dep")]
    labels = ["ROOT", "dep", *labels, *(f"label{i}" for i in range(n))][:n]
    config = nlp.config.interpolate()["components"][PARSER]
    parser: Any = nlp.create_pipe(config.pop("factory"), PARSER, config=config)
    parser.model.get_ref("tok2vec").set_dim("nO", old.model.get_ref("tok2vec").get_dim("nO"))
    empty = Example(nlp.make_doc("x"), nlp.make_doc("x"))
    parser.initialize(lambda: [empty], labels={"labels": labels})
    known = [(i, old_labels.index(name)) for i, name in enumerate(labels) if name in old_labels]
    to, source = (list(places) for places in zip(*known, strict=True))
    features = old.model.attrs["features"]
    for name in old.model.param_names:
        rows = old.model.get_param(name)
        if name in ("label_W", "label_b"):
            new = parser.model.get_param(name)
            labelled = new.ndim - (2 if name == "label_W" else 1)  # the axis of labels
            new = numpy.moveaxis(new, labelled, 0)
            if name == "label_b":
                new[:] = -1e9
            new[to] = numpy.moveaxis(rows, labelled, 0)[source]
            new = numpy.moveaxis(new, 0, labelled)
        elif name.endswith("fact_rows"):
            names = features[name.partition("_fact")[0]] if isinstance(features, dict) else features
            new = parser.model.get_param(name)
            sizes = [Features(names).fact_sizes(len(p.label_data["labels"])) for p in (old, parser)]
            ends = [numpy.cumsum(size) for size in sizes]
            for (before, after), end_old, end_new in zip(
                zip(*sizes, strict=True), *ends, strict=True
            ):
                if before == after:
                    new[end_new - after : end_new] = rows[end_old - after : end_old]
                else:  # a label's number is one less than its value
                    new[end_new - after] = rows[end_old - before]
                    for i, j in known:
                        new[end_new - after + 1 + i] = rows[end_old - before + 1 + j]
        else:
            new = rows
        parser.model.set_param(name, numpy.ascontiguousarray(new))
    for source, target in zip(
        recurrent_layers(old.model), recurrent_layers(parser.model), strict=True
    ):
        target.from_bytes(source.to_bytes())
    return parser


def peak_above(work: Callable[[], Any]) -> float:
    """Run something and watch the memory of the process.

    Args:
        work: What to run.

    Returns:
        By how many MiB it grew at most; read every few milliseconds.
    """
    process = psutil.Process()
    gc.collect()
    before = most = process.memory_info().rss
    done = threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.002):
            most = max(most, process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        most = max(most, process.memory_info().rss)
        done.set()
        watcher.join()
    return (most - before) / MIB


def measure(axis: str, value: int, reps: int, total: int) -> dict[str, Any]:
    """Measure a point. Changes the pipeline of `SUBJECT`.

    Args:
        axis: What is varied.
        value: Its value.
        reps: Repetitions; one alone where a document has more words than `total`.
        total: The least number of words to parse each time.

    Returns:
        The words, the seconds of each repetition, the median of words per second, and the memory
        in MiB.
    """
    nlp, words = SUBJECT[0]
    parser: Any = nlp.get_pipe(PARSER)
    size = value if axis in ("sentence", "document") else LENGTH
    first = make_docs(nlp, words, 200, 200, LENGTH)
    docs = make_docs(nlp, words, size, total, value if axis == "sentence" else LENGTH)
    if axis == "labels":
        parser = with_labels(nlp, value)
    elif axis == "beam":
        parser.beam_width = value
    parser.predict(first)

    def parse() -> None:
        for start in range(0, len(docs), 256):
            parser.predict(docs[start : start + 256])

    memory = peak_above(parse)
    gc.disable()
    seconds = []
    for _ in range(reps if size <= total else 1):
        start = time.process_time()
        parse()
        seconds.append(time.process_time() - start)
    n = sum(map(len, docs))
    return {
        "axis": axis,
        "value": value,
        "words": n,
        "cpu_seconds": seconds,
        "words_per_second": round(n / statistics.median(seconds)),
        "memory": round(memory, 1),
    }


def in_process(*arguments: Any) -> dict[str, Any]:
    """Measure a point in a process of its own.

    Args:
        arguments: Those of `measure`.

    Returns:
        What it measured.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        return pool.submit(measure, *arguments).result()


def draw(output: Path, axes: Sequence[str]) -> None:
    """Draw a picture of each axis next to the results.

    Args:
        output: The file of the results.
        axes: The axes.
    """
    from spacy_nmparse.analysis.plots import plot_scale

    for axis in axes:
        for measure_, ending in (("words_per_second", "speed"), ("memory", "memory")):
            picture = output.with_name(f"{output.stem}-{axis}-{ending}.png")
            try:
                plot_scale([output], picture, measure=f"{axis}.{measure_}")
            except ImportError as error:
                print(f"No pictures: {error}")
                return


def main(argv: list[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments, by default those of the process.

    Returns:
        The exit status.
    """
    parser = command_line(__doc__)
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), metavar="NAME")
    parser.add_argument(
        "--models", nargs="+", type=Path, metavar="FOLDER",
        help="trained pipelines of the systems, in their order; by default they are trained",
    )  # fmt: skip
    parser.add_argument("--corpus", type=Path, help="a .spacy file to take words from")
    parser.add_argument("--axes", nargs="+", choices=list(POINTS), default=list(POINTS))
    parser.add_argument("--most", type=int, default=1_000_000, help="leave out greater values")
    parser.add_argument("--epochs", type=int, default=3, help="epochs to train")
    parser.add_argument("--reps", type=int, default=5, help="repetitions")
    parser.add_argument("--words", type=int, default=10_000, help="words to parse each time")
    parser.add_argument("--work", type=Path, default=WORK / "speed")
    parser.add_argument("-o", "--output", type=Path, help="JSON file to write")
    args = parser.parse_args(argv)
    if args.models and len(args.models) != len(args.systems):
        parser.error(f"{len(args.systems)} systems need as many models, not {len(args.models)}.")
    points: list[dict[str, Any]] = []
    try:
        data = None if args.models and args.corpus else prepare_data(None, None, args.work)
        corpus = args.corpus or data.corpus["train"]  # type: ignore[union-attr]
        name = args.corpus.parent.name if args.corpus else data.name  # type: ignore[union-attr]
        models = args.models or [
            train(system, data, args.epochs, 1, args.work)  # type: ignore[arg-type]
            for system in args.systems
        ]
        for system, model in zip(args.systems, models, strict=True):
            nlp = spacy.load(model)
            SUBJECT[:] = [(nlp, read_words(nlp, corpus))]
            for axis in args.axes:
                for value in POINTS[axis]:
                    if value <= args.most:
                        found = in_process(axis, value, args.reps, args.words)
                        points.append({"system": system, **found})
    except (OSError, ValueError, RuntimeError) as error:
        return complain("scale", error)
    about = record()
    rows = [
        [
            point["axis"], f"{point['value']:,}", point["system"], f"{point['words']:,}",
            f"{point['words_per_second']:,}", f"{point['memory']:,.1f}",
        ]
        for point in points
    ]  # fmt: skip
    print(f"\n{name}; {about['machine']['processor']}, one thread\n")
    print(markdown(["axis", "value", "parser", "words", "words per second", "MiB"], rows))
    output = args.output or RUNS / "scale" / f"{name}.json"
    dump(
        {
            "command": f"python -m benchmarks.scale --systems {' '.join(args.systems)} "
            f"--axes {' '.join(args.axes)} --most {args.most} --reps {args.reps} "
            f"--words {args.words}",
            "models": "given" if args.models else f"{args.epochs} epochs",
            **about,
            "points": points,
        },
        output,
    )
    draw(output, args.axes)
    print(f"\nWritten to {output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
