"""The same seed gives the same weights, bit for bit; another seed gives others."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from typing import Any

from thinc.api import fix_random_seed

from tests.commands import python
from tests.pipe.common import NL, NM, SWAP, make_examples, make_nlp, model_config, parser_of, train


def weights(seed: int = 1, factory: str = NM, **config: Any) -> str:
    nlp = make_nlp(factory=factory, explore=0.5, **config)
    fix_random_seed(seed)
    examples = make_examples(nlp.vocab)
    train(nlp, examples, steps=5, drop=0.2)
    return hashlib.sha256(parser_of(nlp).to_bytes(exclude=["vocab"])).hexdigest()


CASES: dict[str, dict[str, Any]] = {
    "nm": {},
    "nl": {"factory": NL},
    "swap": {"factory": SWAP},
    "swap, minimal": {"factory": SWAP, "oracle": "minimal"},
    "beam": {"update": "max_violation", "share": 0.5},
    "beam of swap": {"factory": SWAP, "update": "max_violation", "width": 4},
    "static": {"oracle": "static"},
    "combined": {"oracle": "combined"},
    "nl, static": {"factory": NL, "oracle": "static"},
    "another seed": {"seed": 2},
    "another seed of nl": {"seed": 2, "factory": NL},
    "another seed of swap": {"seed": 2, "factory": SWAP},
    "recurrent": {"model": model_config(recurrent_width=8)},
}


def all_weights() -> dict[str, str]:
    return {name: weights(**case) for name, case in CASES.items()}


def test_other_hash_seeds() -> None:
    code = """import json
from tests.learning.test_determinism import all_weights
print(json.dumps(all_weights()))"""
    expected = all_weights()
    assert len(set(expected.values())) == len(CASES), "a seed or an option makes no difference"
    again = {name: weights(**CASES[name]) for name in ("nm", "nl", "swap")}
    assert again.items() <= expected.items(), "not the same twice in a process"
    path = os.pathsep.join([os.getcwd(), *sys.path])
    done = python("-c", code, PYTHONHASHSEED="1", PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected
