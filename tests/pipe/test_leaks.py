"""Memory does not grow while a parser parses and learns. Linux.

``NMPARSE_DOCS=33000 python -m pytest -m slow tests/pipe/test_leaks.py`` parses as many documents
with each parser, and makes a tenth as many updates.
"""

from __future__ import annotations

import gc
import os
import random
from pathlib import Path

import pytest

from tests.pipe.common import SMALL, make_examples, parser_of, random_doc, tiny_parser

STATUS = Path("/proc/self/statm")
DOCS = int(os.environ.get("NMPARSE_DOCS", 3000))
STEPS, WARM = 10, 3  # in the first three tenths of the way, caches and arenas fill


def resident() -> float:
    """MiB of memory in use."""
    return int(STATUS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.slow
@pytest.mark.skipif(not STATUS.exists(), reason="reads Linux's /proc")
@pytest.mark.parametrize("factory", SMALL)
def test_memory_does_not_grow(factory: str) -> None:
    nlp = tiny_parser(factory, 0)
    optimizer = nlp.resume_training()
    rng = random.Random(0)

    def parse(n: int) -> None:
        docs = (random_doc(nlp.vocab, rng, rng.randint(0, 16)) for _ in range(n))
        for _ in parser_of(nlp).pipe(docs, batch_size=64):
            pass

    def learn(n: int) -> None:
        for _ in range(n):
            nlp.update(make_examples(nlp.vocab, [[rng.randrange(6)]] * 4), sgd=optimizer)

    for work, times in ((parse, DOCS), (learn, DOCS // 10)):
        sizes = []
        for _ in range(STEPS):
            work(times // STEPS)
            gc.collect()
            sizes.append(resident())
        assert sizes[-1] - sizes[WARM - 1] < 1, sizes
