"""The same seed gives the same weights, bit for bit."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

from tests.pipe.common import make_examples, make_nlp, train


def weights(seed: int = 1, **config: object) -> str:
    from thinc.api import fix_random_seed

    nlp = make_nlp(explore=0.5, **config)
    fix_random_seed(seed)
    examples = make_examples(nlp.vocab)
    train(nlp, examples, steps=15, drop=0.2)
    return hashlib.sha256(nlp.get_pipe("nm_parser").to_bytes(exclude=["vocab"])).hexdigest()


def test_twice_in_a_process() -> None:
    assert weights() == weights()
    assert weights() != weights(seed=2)


@pytest.mark.parametrize("oracle", ["dynamic", "static", "combined"])
def test_other_oracles(oracle: str) -> None:
    assert weights(oracle=oracle) == weights(oracle=oracle)


def test_other_hash_seeds() -> None:
    code = "from tests.learning.test_determinism import weights; print(weights())"
    found = set()
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.getcwd()},
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout.strip())
    assert found == {weights()}
