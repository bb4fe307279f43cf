"""The same seed gives the same weights, bit for bit."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.pipe.common import NL, NM, make_examples, make_nlp, parser_of, train


def weights(seed: int = 1, factory: str = NM, **config: Any) -> str:
    from thinc.api import fix_random_seed

    nlp = make_nlp(factory=factory, explore=0.5, **config)
    fix_random_seed(seed)
    examples = make_examples(nlp.vocab)
    train(nlp, examples, steps=15, drop=0.2)
    return hashlib.sha256(parser_of(nlp).to_bytes(exclude=["vocab"])).hexdigest()


@pytest.mark.parametrize("factory", [NM, NL])
def test_twice_in_a_process(factory: str) -> None:
    assert weights(factory=factory) == weights(factory=factory)
    assert weights(factory=factory) != weights(seed=2, factory=factory)


@pytest.mark.parametrize("oracle", ["dynamic", "static", "combined"])
def test_other_oracles(oracle: str) -> None:
    assert weights(oracle=oracle) == weights(oracle=oracle)


def test_static_oracle_of_list_systems() -> None:
    assert weights(factory=NL, oracle="static") == weights(factory=NL, oracle="static")


def test_other_hash_seeds() -> None:
    code = """from tests.learning.test_determinism import NL, weights
print(weights(), weights(factory=NL))"""
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
    assert found == {f"{weights()} {weights(factory=NL)}"}
