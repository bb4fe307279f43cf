"""The same bits whatever the batch: trees, labels and confidences of the factories' defaults, on
each class of processors that this one can be."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_nmparse.layers.cpu import CLASS, CLASSES
from spacy_nmparse.layers.products import HAS_TILES
from spacy_nmparse.pipe.confidence import confidences
from tests.pipe.common import NL, NM, SWAP, bare, make_examples, parser_of, randomize, tree

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not HAS_TILES, reason="OpenBLAS multiplies with MSVC")


def default_parser(factory: str, **config: Any) -> Language:
    """With random weights."""
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory, config={"confidence": True, **config})
    nlp.initialize(lambda: make_examples(nlp.vocab))
    randomize(parser_of(nlp).model, seed=8, scale=0.15)
    return nlp


def some_docs(nlp: Language) -> list[Doc]:
    """1,300 words in sentences, texts and single words."""
    rng = random.Random(3)
    words = ["".join(rng.choices("aeioklmnst", k=rng.randint(1, 9))) for _ in range(400)]
    lengths = [1, 2, 3, 150, 400] + [rng.randint(1, 40) for _ in range(40)]
    return [Doc(nlp.vocab, words=rng.choices(words, k=length)) for length in lengths]


def parses(nlp: Language, docs: list[Doc], size: int) -> list[Any]:
    parsed = nlp.pipe((bare(doc) for doc in docs), batch_size=size)
    return [(tree(doc), confidences(doc).tolist()) for doc in parsed]


@pytest.mark.parametrize("config", [{}, {"rounded": False}, {"beam_width": 3}])
@pytest.mark.parametrize("factory", [NM, NL, SWAP])
def test_same_bits(factory: str, config: dict[str, Any]) -> None:
    nlp = default_parser(factory, **config)
    docs = some_docs(nlp)
    alone = parses(nlp, docs, 1)
    assert sum(map(len, docs)) > 1000  # a batch that large keeps vectors of words
    for size in (2, 7, 100):
        assert parses(nlp, docs, size) == alone
    assert parses(nlp, docs[::-1], 30) == alone[::-1]


@pytest.mark.parametrize("cpu", [cpu for cpu in CLASSES if cpu != CLASS])
def test_same_bits_on_other_processors(cpu: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", __file__, "-k", "test_same_bits and not other"]
    done = subprocess.run(
        command,
        env={**os.environ, "NMPARSE_CPU": cpu},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
