"""Products of ``layers.blas``: on one thread whatever the environment says. That they are right:
test_products.py."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy
import pytest

from spacy_nmparse.layers.blas import matmul
from tests.commands import python
from tests.layers.processor_time import FACTORIES, WHERE
from tests.layers.test_products import sample


@pytest.fixture(autouse=True)
def no_threads_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names no number of threads."""
    for variable in [name for name in os.environ if name.endswith("_NUM_THREADS")]:
        monkeypatch.delenv(variable)


@pytest.mark.parametrize(
    ("A", "B", "out"),
    [
        *((A, sample(3, 2), None) for A in (sample(3), sample(2, 3).astype("float64"))),
        (sample(2, 3), sample(2, 3), None),
        *(
            (sample(2, 3), sample(3, 2), out)
            for out in (
                *(sample(2, 3), sample(2, 2).astype("float64"), sample(2, 2).T),
                *(sample(2, 2)[::-1], numpy.broadcast_to(sample(1, 2), (2, 2))),
                numpy.frombuffer(bytes(16), "float32").reshape(2, 2),
            )
        ),
    ],
)
def test_refuses_what_does_not_fit(A: Any, B: Any, out: Any) -> None:
    with pytest.raises(ValueError, match="matmul: "):
        matmul(A, B, out=out)
    for arguments in ((A, None), (sample(2, 3), sample(3, 2), [0])):
        with pytest.raises(TypeError, match="matmul takes NumPy's arrays, not"):
            matmul(*arguments)


@pytest.mark.skipif(sys.platform == "win32", reason="libraries have no common names there")
def test_other_libraries_do_not_see_it() -> None:
    """SciPy's own OpenBLAS has functions of the same names."""
    program = (
        "import ctypes, os, spacy_nmparse.layers.blas;"
        "print(hasattr(ctypes.CDLL(None), 'scipy_cblas_sgemm'), dict(os.environ))"
    )
    done = python("-c", program)
    assert done.stdout.startswith("False"), done.stderr
    assert "OPENBLAS_NUM_THREADS" not in done.stdout


# Those that this process may use: OpenBLAS makes no more threads.
N_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@pytest.mark.parametrize(
    ("where", "variables"),
    [
        (WHERE[0], {}),
        *((where, {"OPENBLAS_NUM_THREADS": "4"}) for where in WHERE[1:3]),
        *(pytest.param(where, {}, marks=pytest.mark.slow) for where in WHERE[1:]),
        *(
            pytest.param(where, {"OPENBLAS_NUM_THREADS": "4"}, marks=pytest.mark.slow)
            for where in (WHERE[0], *WHERE[3:])
        ),
    ],
)
def test_one_thread_computes(where: str, variables: dict[str, str]) -> None:
    """Training and parsing use the processor in one thread, and NumPy keeps its threads."""
    done = python("-m", "tests.layers.processor_time", where, **variables)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert set(figures) == set(FACTORIES)
    for own, others, numpys_before, numpys_after in figures.values():
        assert others < 0.1 * own
        assert numpys_after == numpys_before
        if variables and numpys_before is not None and N_CORES > 1:
            assert numpys_before > 1
