"""Products of ``layers.blas``: right, and on one thread whatever the environment says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from spacy_nmparse.layers.blas import matmul
from tests.layers.processor_time import FACTORIES, WHERE


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python where the environment names no number of threads, but for these variables."""
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    command = [sys.executable, *arguments]
    given: Any = {"env": {**environment, **variables}, "cwd": ROOT}
    return subprocess.run(command, **given, capture_output=True, text=True, check=False)


ROOT = Path(__file__).resolve().parent.parent.parent


def sample(*shape: int) -> numpy.ndarray:
    return numpy.random.RandomState(len(shape) + sum(shape)).normal(size=shape).astype("float32")


#: Arrays of one shape, laid out in different ways.
LAYOUTS = {
    "rows": lambda m, n: sample(m, n),
    "transposed": lambda m, n: sample(n, m).T,
    "slice of columns": lambda m, n: sample(m, n + 5)[:, 2 : n + 2],
    "slice of transposed": lambda m, n: sample(n, m + 5)[:, 1 : m + 1].T,
    "one of two sides": lambda m, n: sample(m, 2, n)[:, 1],
    "every second column": lambda m, n: sample(m, 2 * n)[:, ::2],
    "backwards": lambda m, n: sample(m, n)[::-1],
    "one row, repeated": lambda m, n: numpy.broadcast_to(sample(n), (m, n)),
}


@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("second", LAYOUTS)
def test_is_numpys_product(first: str, second: str) -> None:
    for m, k, n in [(1, 1, 1), (1, 7, 3), (5, 1, 4), (6, 9, 1), (33, 20, 17)]:
        A, B = LAYOUTS[first](m, k), LAYOUTS[second](k, n)
        expected = A.astype("float64") @ B.astype("float64")
        found = matmul(A, B)
        assert found.dtype == "float32" and found.flags.c_contiguous
        numpy.testing.assert_allclose(found, expected, atol=1e-4)


def test_writes_into_a_part_of_an_array() -> None:
    room = numpy.full((8, 10), 7, dtype="float32")
    A, B = sample(4, 3), sample(3, 5)
    part = room[2:6, 1:6]
    assert matmul(A, B, out=part) is part
    numpy.testing.assert_allclose(part, A @ B, atol=1e-5)
    part[:] = 7
    assert (room == 7).all()


@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 2), (4, 0, 2), (4, 3, 0), (0, 0, 0)])
def test_empty_arrays(m: int, k: int, n: int) -> None:
    numpy.testing.assert_array_equal(matmul(sample(m, k), sample(k, n)), numpy.zeros((m, n)))


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
