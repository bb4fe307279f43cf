"""Whether memory grows while a parser parses and learns.

    python -m tests.leaks --docs 100000 --updates 10000

parses that many documents and then makes that many updates with a small parser of each factory (the
numbers are shared out among them), and prints the memory in use (resident set) by tenths of the
way. After the first three tenths, in which caches and arenas fill, it must not grow by more than
``--limit`` MiB; the exit status is 1 if it does. Linux. For what is lost without growth to be seen:

    python -m tests.sanitize --leaks -m tests.leaks --docs 2000 --updates 200
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from tests.pipe.common import (
    SMALL,
    TOK2VEC,
    make_examples,
    make_nlp,
    random_doc,
)

STEPS = 10
WARM = 3  # of the steps
BATCH = 4


def resident() -> float:
    """MiB of memory in use."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def tiny_parser(factory: str) -> Language:
    model = {**SMALL[factory]["model"], "tok2vec": {**TOK2VEC, "width": 16}, "hidden_width": 16}
    return make_nlp(factory=factory, model=model)


def actions(factory: str) -> tuple[Callable[[int], None], Callable[[int], None]]:
    """What parses so many documents, and what makes so many updates."""
    nlp = tiny_parser(factory)
    examples = make_examples(nlp.vocab)
    optimizer = nlp.initialize(lambda: examples)
    rng = random.Random(0)

    def docs(n: int) -> Iterator[Doc]:
        for _ in range(n):
            yield random_doc(nlp.vocab, rng, rng.randint(0, 16))

    def parse(n: int) -> None:
        for _ in nlp.pipe(docs(n), batch_size=64):
            pass

    def learn(n: int) -> None:
        for _ in range(n):
            batch = make_examples(nlp.vocab, [[rng.randrange(6)] for _ in range(BATCH)])
            nlp.update(batch, sgd=optimizer)

    return parse, learn


def measure(name: str, n: int, run: Callable[[int], None]) -> float:
    """Run the n repetitions in steps; print memory after each; growth after the warm ones."""
    sizes = []
    for _ in range(STEPS):
        run(n // STEPS)
        gc.collect()
        sizes.append(resident())
    growth = sizes[-1] - sizes[WARM - 1]
    steps = " | ".join(f"{size:.1f}" for size in sizes)
    print(f"| {name} | {n // STEPS * STEPS} | {steps} | {growth:+.2f} |", flush=True)
    return growth


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.leaks", description=__doc__)
    parser.add_argument("--docs", type=int, default=100_000)
    parser.add_argument("--updates", type=int, default=10_000)
    parser.add_argument("--factory", choices=sorted(SMALL), help="only this one")
    parser.add_argument("--limit", type=float, default=1.0, help="MiB")
    options = parser.parse_args(arguments)
    heads = " | ".join(f"{100 * step // STEPS} %" for step in range(1, STEPS + 1))
    print(f"| MiB after | times | {heads} | growth |")
    print("| --- " * (STEPS + 3) + "|")
    grown = []
    factories = [options.factory] if options.factory else list(SMALL)
    for factory in factories:
        parse, learn = actions(factory)
        grown.append(measure(f"{factory}: documents", options.docs // len(factories), parse))
        grown.append(measure(f"{factory}: updates", options.updates // len(factories), learn))
    print(f"\nMost growth after {100 * WARM // STEPS} %: {max(grown):+.2f} MiB")
    return int(max(grown) > options.limit)


if __name__ == "__main__":
    sys.exit(main())
