"""The same bits whatever the batch and the number of threads: trees, labels and confidences of
parsers of the factories' own sizes, on each class of processors that this one can be."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc

from spacy_nmparse.layers.cpu import CLASS, CLASSES
from spacy_nmparse.layers.products import HAS_TILES
from tests.commands import python
from tests.pipe.common import KINDS, SMALL, bare, make_examples, parser_of, randomize, surely_parsed

pytestmark = pytest.mark.skipif(not HAS_TILES, reason="OpenBLAS multiplies with MSVC")


SETTINGS: list[dict[str, Any]] = [{}, {"beam_width": 3}]


@pytest.mark.parametrize(
    ("kind", "settings"), [*itertools.product(SMALL, SETTINGS), ("arc_swift", {})]
)
def test_same_bits(kind: str, settings: dict[str, Any]) -> None:
    nlp = spacy.blank("xx")
    config = {"confidence": True, **KINDS[kind], **settings}
    nlp.add_pipe(config.pop("factory"), config=config)
    nlp.initialize(lambda: make_examples(nlp.vocab))
    parser = parser_of(nlp)
    randomize(parser.model, seed=8, scale=0.15)
    rng = random.Random(3)
    words = ["".join(rng.choices("aeioklmnst", k=rng.randint(1, 9))) for _ in range(400)]
    lengths = [1, 2, 3, 150, 400] + [rng.randint(1, 40) for _ in range(40)]
    docs = [Doc(nlp.vocab, words=rng.choices(words, k=length)) for length in lengths]

    def parses(docs: list[Doc], size: int) -> list[Any]:
        return surely_parsed(nlp.pipe(map(bare, docs), batch_size=size))

    alone = parses(docs, 1)
    assert sum(map(len, docs)) > 1000  # a batch that large keeps vectors of words
    for size in (2, 7, 100):
        assert parses(docs, size) == alone
    assert parses(docs[::-1], 30) == alone[::-1]
    parser.threads = 3
    assert parses(docs, 16) == alone


@pytest.mark.parametrize("cpu", [cpu for cpu in CLASSES if cpu != CLASS])
def test_same_bits_on_other_processors(cpu: str) -> None:
    command = ("-m", "pytest", "-q", __file__, "-k", "test_same_bits and not other")
    done = python(*command, NMPARSE_CPU=cpu)
    assert done.returncode == 0, done.stdout
