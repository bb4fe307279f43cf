"""The same seed gives the same weights, bit for bit."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.pipe.common import NL, NM, make_examples, make_nlp, model_config, parser_of, train

SWAP = "swap_parser"


def weights(seed: int = 1, factory: str = NM, **config: Any) -> str:
    from thinc.api import fix_random_seed

    nlp = make_nlp(factory=factory, explore=0.5, **config)
    fix_random_seed(seed)
    examples = make_examples(nlp.vocab)
    train(nlp, examples, steps=10, drop=0.2)
    return hashlib.sha256(parser_of(nlp).to_bytes(exclude=["vocab"])).hexdigest()


@pytest.mark.parametrize("factory", [NM, NL, SWAP])
def test_twice_in_a_process(factory: str) -> None:
    assert weights(factory=factory) == weights(factory=factory)
    assert weights(factory=factory) != weights(seed=2, factory=factory)


@pytest.mark.parametrize("oracle", ["dynamic", "static", "combined"])
def test_other_oracles(oracle: str) -> None:
    assert weights(oracle=oracle) == weights(oracle=oracle)


def test_static_oracle_of_list_systems() -> None:
    assert weights(factory=NL, oracle="static") == weights(factory=NL, oracle="static")


CASES: dict[str, dict[str, Any]] = {
    "nm": {},
    "nl": {"factory": NL},
    "swap": {"factory": SWAP},
    "swap, minimal": {"factory": SWAP, "oracle": "minimal"},
    "beam": {"beam_training": "max_violation", "beam_updates": 0.5},
    "recurrent": {"model": model_config(recurrent_width=8)},
}


def all_weights() -> dict[str, str]:
    return {name: weights(**case) for name, case in CASES.items()}


def test_other_hash_seeds() -> None:
    code = """import json
from tests.learning.test_determinism import all_weights
print(json.dumps(all_weights()))"""
    expected = all_weights()
    assert len(set(expected.values())) == len(CASES)
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "PYTHONHASHSEED": hash_seed,
                "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path]),
            },
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == expected
