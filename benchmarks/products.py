"""Count the matrix products of parsers, and time them.

    python -m benchmarks.products
    python -m benchmarks.products --systems nm_parser swap_parser --rows
    NMPARSE_CPU=avx2 python -m benchmarks.products --rows 512 20

For each product of token vectors and weights: multiplications for a word, and how many billions of
additions and multiplications a second (GFLOP/s, by the processor's time) the package's tiles reach,
of float32 and of rounded numbers (docs/speed.md), and OpenBLAS, with so many rows, those of a batch
or of a sentence. The encoder's products are not rounded. Rows of words that are found along arcs
are made one by one, and only those that are looked at: they are counted, not timed.

Result: a table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from benchmarks.common import command_line, program
from benchmarks.formats import markdown
from benchmarks.systems import find_system
from spacy_nmparse.layers.blas import matmul
from spacy_nmparse.layers.cpu import CLASS
from spacy_nmparse.layers.products import Weights
from spacy_nmparse.scorers.features import Features
from spacy_nmparse.scorers.words import recurrent_layers

FACTORIES = ("nm_parser", "swap_parser", "nl_covington_parser")
REPETITIONS = 15
LEAST = 2e-3  # seconds of a repetition


def initialized(system: str) -> Model:
    """The scorer of a system's parser, over the default token vectors, initialized."""
    nlp = spacy.blank("xx")
    component = find_system(system).build()["components"]["parser"]
    model = {key: value for key, value in component["model"].items() if key != "tok2vec"}
    parser: Any = nlp.add_pipe(component["factory"], config={"model": model})
    gold = Doc(nlp.vocab, words=["a", "b"], heads=[0, 0], deps=["ROOT", "dep"])
    example = Example(Doc(nlp.vocab, words=["a", "b"]), gold)
    nlp.initialize(lambda: [example])
    return parser.model


def products(model: Model) -> Iterator[tuple[str, Any, bool]]:
    """Find the products that a scorer and its token vectors make: name, weights (n, k), and whether
    all rows are made together."""
    embed, encode = model.get_ref("tok2vec").layers[:2]
    for name, part in (("AffixEmbed, a new word", embed), ("encoder", encode)):
        for node in part.walk():
            if node.name == "maxout":
                W: Any = node.get_param("W")
                yield name, W.reshape(-1, W.shape[-1]), True
    for i, layer in enumerate(recurrent_layers(model), 1):
        yield f"recurrent layer {i}", layer.get_param("W"), True
    yield "projection", model.get_param("project_W"), True
    if model.has_param("arc_W"):
        yield "heads and dependents", model.get_param("arc_W"), True
        U: Any = model.get_param("arc_U")
        yield "biaffine", U.reshape(-1, U.shape[-1]), True
    names = model.attrs["features"]
    layers = [names] if isinstance(names, list) else list(names.values())
    slots = [word for layer in layers for word in slots_of(Features(layer))]
    found = sum("." in word for word in slots)
    word_W: Any = model.get_param("word_W")
    end = len(word_W) * (len(slots) - found) // len(slots)
    yield "word rows", word_W[:end], True
    yield "word rows found along arcs", word_W[end:], False


def slots_of(features: Features) -> list[str]:
    """Name the words that features multiply by weights: of a pair, both."""
    return [*features.words, *(word for pair in features.pairs for word in pair.split("*"))]


def gflops(run: Callable[[], Any], n: float) -> float:
    """Time a product of `n` multiplications: billions of multiplications and additions a second, in
    the best of some repetitions."""
    run()
    start = time.perf_counter()
    run()
    times = max(1, int(LEAST / max(time.perf_counter() - start, 1e-7)))
    best = float("inf")
    for _ in range(REPETITIONS):
        start = time.process_time()
        for _ in range(times):
            run()
        best = min(best, (time.process_time() - start) / times)
    return 2 * n / best / 1e9


def measure(W: Any, rows: int) -> list[str]:
    """Time the product of a matrix of so many rows and the weights, by tiles, by tiles of rounded
    numbers and by OpenBLAS: GFLOP/s of each."""
    A = numpy.random.default_rng(0).normal(size=(rows, W.shape[1])).astype("float32")
    out = numpy.empty((rows, len(W)), dtype="float32")
    exact, rounded, turned = Weights(W, exact=True), Weights(W), numpy.ascontiguousarray(W.T)
    ways: tuple[Callable[[], Any], ...] = (
        lambda: exact.times(A, out),
        lambda: rounded.times(A, out),
        lambda: matmul(A, turned, out),
    )
    return [f"{gflops(run, W.size * rows):.0f}" for run in ways]


@program
def main(argv: Sequence[str] | None) -> None:
    """Run the command line."""
    parser = command_line(__doc__)
    parser.add_argument("--systems", nargs="+", default=FACTORIES, metavar="SYSTEM")
    parser.add_argument("--rows", type=int, nargs="*", default=[512, 20])
    options = parser.parse_args(argv)
    header = ["Parser", "Product", "Inputs x outputs", "Multiplications a word"]
    for rows in options.rows:
        header += [f"{way}, {rows} rows" for way in ("Tiles", "Rounded", "OpenBLAS")]
    table = []
    known: dict[tuple[int, ...], list[str]] = {}
    for system in options.systems:
        for name, W, together in products(initialized(system)):
            if W.shape not in known:
                known[W.shape] = [one for rows in options.rows for one in measure(W, rows)]
            sizes = f"{W.shape[1]} x {W.shape[0]}"
            figures = known[W.shape] if together else [""] * 3 * len(options.rows)
            table.append([system, name, sizes, f"{W.size:,}", *figures])
    print(f"GFLOP/s, processor class {CLASS}\n")
    print(markdown(header, table))


if __name__ == "__main__":
    raise SystemExit(main())
