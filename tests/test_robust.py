"""The parts of ``python -m tests.robust``, which runs the tests themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from spacy_nmparse.layers.cpu import CLASSES
from tests.copies import ROOT
from tests.robust import LEFT_OUT, SETTINGS, main, selection

CODE = """
import json
from tests.pipe.common import make_examples, make_nlp, parser_of
found = []
for _ in range(2):
    nlp = make_nlp()
    nlp.initialize(lambda: make_examples(nlp.vocab))
    model = parser_of(nlp).model
    found.append([model.get_param(name).tolist() for name in ("word_W", "move_b")])
print(json.dumps(found))
"""


def initial(seed: str) -> list[list[numpy.ndarray]]:
    """Two weights of two models, made alike in a process that has noise."""
    paths = [str(ROOT), str(ROOT / "tests" / "noise"), *sys.path]
    variables = {"NMPARSE_NOISE": seed, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        check=True,
    )
    return [
        [numpy.asarray(values, "float32") for values in model] for model in json.loads(done.stdout)
    ]


@pytest.mark.slow
def test_noise_is_in_the_last_bit() -> None:
    (plain, _), (one, again), (other, _) = (initial(seed) for seed in ("", "1", "2"))
    for values, noisy in zip(plain, one, strict=True):
        up, down = (numpy.nextafter(values, numpy.float32(end)) for end in (9, -9))
        assert ((noisy == up) | (noisy == down) | (values == 0)).all()
        assert (noisy[values == 0] == 0).all()
    up_or_down = (one[0] > plain[0]).mean()
    assert 0.4 < up_or_down < 0.6
    assert all((a == b).all() for a, b in zip(one, again, strict=True))
    assert (one[0] != other[0]).any()


def test_selection() -> None:
    assert all((ROOT / path).exists() for path in LEFT_OUT)
    assert selection(["tests/pipe/test_trees.py::test_x", "-x"])[1:] == ["-x"]
    assert {"-x", "tests", "--ignore=tests/systems"} <= {*selection(["-x"])}


def test_a_failure_is_told(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert len(SETTINGS) == 8 + len(CLASSES)
    path = tmp_path / "test_setting.py"
    path.write_text("import os\ndef test(): assert os.environ['OMP_NUM_THREADS'] == '2'\n")
    found = main(["--setting", "threads-1", "--setting", "threads-2", "--", str(path)])
    printed = capsys.readouterr().out
    assert found == 1
    assert "| threads-1 | 1 |\n| threads-2 | 0 |" in printed
    assert f"{path.name}::test\n" in printed
