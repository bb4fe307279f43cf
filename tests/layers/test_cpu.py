"""The processor's class, and the variable that names a lower one."""

from __future__ import annotations

import os
import subprocess

import pytest

from spacy_nmparse.layers.cpu import CLASS, CLASSES
from tests.commands import python

PROGRAM = """
import numpy
from spacy_nmparse.layers.cpu import CLASS
from spacy_nmparse.layers.products import HAS_FIXED
from spacy_nmparse.layers.blas import _library
_library.scipy_openblas_get_corename.restype = __import__("ctypes").c_char_p
print(CLASS, HAS_FIXED, _library.scipy_openblas_get_corename().decode())
"""
CORES = {"plain": "Nehalem", "avx2": "Haswell", "avx512": "SkylakeX"}


def run(cpu: str) -> subprocess.CompletedProcess[str]:
    return python("-c", PROGRAM, NMPARSE_CPU=cpu)


@pytest.mark.parametrize("cpu", CLASSES)
def test_the_variable_names_it(cpu: str) -> None:
    """For loops, products and our OpenBLAS."""
    name, rounds, core = run(cpu).stdout.split()
    assert name == cpu and rounds == str(cpu.startswith("avx"))
    assert core == CORES.get(cpu, core)


def test_empty_is_unset() -> None:
    assert run("").stdout.split()[0] == CLASSES[-1]
    assert (os.environ.get("NMPARSE_CPU") or CLASSES[-1]) == CLASS
    assert CLASSES[0] in ("plain", "neon")


@pytest.mark.parametrize("cpu", ["AVX2", "plain "])
def test_others_are_errors(cpu: str) -> None:
    done = run(cpu)
    assert done.returncode and f"NMPARSE_CPU is {cpu!r}" in done.stderr
    assert f"can be {', '.join(CLASSES)}: set one" in done.stderr
