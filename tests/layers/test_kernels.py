"""The headers are C for every compiler: they are checked with those that are installed."""

from __future__ import annotations

import ctypes
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy
import pytest

from spacy_nmparse import layers

LIBRARY = {
    "stddef.h": "#pragma once\n#define NULL ((void *)0)\n"
    "typedef __SIZE_TYPE__ size_t; typedef __PTRDIFF_TYPE__ ptrdiff_t;\n",
    "stdint.h": "#pragma once\n"
    "typedef unsigned char uint8_t; typedef unsigned int uint32_t;\n"
    "typedef short int16_t; typedef int int32_t; typedef unsigned long long uint64_t;\n",
    "string.h": "void *memcpy(void *, const void *, __SIZE_TYPE__);\n"
    "void *memset(void *, int, __SIZE_TYPE__);\n",
    "math.h": "float sqrtf(float); float fmaxf(float, float); float fabsf(float);\n"
    "#define isfinite(x) ((x) - (x) == 0)\n",
    "features.h": "",
}

FOLDER = Path(layers.__file__).parent
HEADERS = sorted(FOLDER.glob("*.h"))
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
# Compilers for systems whose C library is not here: what the header needs of it.
FREESTANDING = ("-nostdinc", "-ffreestanding")
COMPILERS = {
    "cc": ("cc", *STRICT),
    "gcc": ("gcc", *STRICT),
    "clang": ("clang", *STRICT),
    "mingw": ("x86_64-w64-mingw32-gcc", *STRICT),
    "msvc-dialect": (
        *("clang", "--target=x86_64-pc-windows-msvc", "-fms-compatibility-version=19.30"),
        *("-Wall", "-Wextra", "-Werror", *FREESTANDING),
    ),
    "macos": ("clang", "--target=arm64-apple-macos11", *STRICT, *FREESTANDING),
    "musl": ("clang", "--target=aarch64-linux-musl", *STRICT, *FREESTANDING),
}


@pytest.mark.parametrize("name", COMPILERS)
def test_compiles(name: str, tmp_path: Path) -> None:
    compiler, *options = COMPILERS[name]
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    if "-nostdinc" in options:
        for header, content in LIBRARY.items():
            (tmp_path / header).write_text(content, encoding="utf-8")
    text = "".join(header.read_text("utf-8") for header in HEADERS)
    functions = re.findall(r"^NMP_(?:LOOP\(|VALUE\(\w+, )(nmp_\w+),", text, re.M)
    functions += re.findall(r"^(?:static|NMP_INLINE) (?:inline )?\w+ (nmp_\w+)\(", text, re.M)
    assert len(functions) > 10 and len(HEADERS) > 1
    included = "".join(f'#include "{header.name}"\n' for header in HEADERS)
    used = " ".join(f"(void){function};" for function in functions)
    source = tmp_path / "use.c"
    source.write_text(f"{included}int main(void) {{ {used} return 0; }}\n", encoding="utf-8")
    command = [compiler, *options, f"-I{tmp_path}", f"-I{FOLDER}", "-c", str(source)]
    command += ["-o", str(tmp_path / "use.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def library(compiler: str, folder: Path, content: str) -> Any:
    """A library of functions in C, compiled for this machine."""
    source = folder / "source.c"
    source.write_text(content, encoding="utf-8")
    options = ["-O2", "-shared", "-fPIC", f"-I{FOLDER}", "-w"]
    made = str(source.with_suffix(".so"))
    subprocess.run([compiler, *options, str(source), "-o", made, "-lm"], check=True)
    return ctypes.CDLL(made)


@pytest.fixture(scope="module")
def drop(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """nmp_drop."""
    if shutil.which("cc") is None:
        pytest.skip("no cc")
    return library(
        "cc",
        tmp_path_factory.mktemp("drop"),
        '#include "activation.h"\n'
        "void drop(float *h, uint8_t *w, uint32_t start, uint32_t limit, float scale, int n)\n"
        "{ nmp_drop(h, w, start, limit, scale, n); }\n",
    )


@pytest.fixture(scope="module")
def tiles(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """nmp_pack, and nmp_multiply for a class of processors."""
    if shutil.which("gcc") is None or platform.machine() != "x86_64":
        pytest.skip("this needs GCC and x86-64")
    return library(
        "gcc",
        tmp_path_factory.mktemp("tiles"),
        '#include "tiles.h"\n'
        "void pack(float *p, const float *w, ptrdiff_t n_in, ptrdiff_t width, ptrdiff_t pieces)\n"
        "{ nmp_pack(p, w, n_in, width, pieces); }\n"
        "int multiply(const char *name, float *out, ptrdiff_t step, const void *rows,\n"
        "             ptrdiff_t n, const float *p, ptrdiff_t n_in, ptrdiff_t n_out)\n"
        "{\n"
        "    for (nmp_cpu = 0; strcmp(name, nmp_class_names[nmp_cpu]);) ++nmp_cpu;\n"
        "    if (!nmp_has_class(nmp_cpu)) return 0;\n"
        "    nmp_multiply(out, step, rows, n, p, n_in, n_out);\n"
        "    return 1;\n"
        "}\n",
    )


@pytest.mark.parametrize("n_rows", [1, 3, 8, 13])
@pytest.mark.parametrize(
    ("n_in", "width", "pieces"), [(1, 1, 1), (7, 16, 1), (40, 24, 3), (5, 136, 1)]
)
@pytest.mark.parametrize("cpu", ["plain", "avx2", "avx512"])
def test_products_in_tiles(
    tiles: Any, cpu: str, n_rows: int, n_in: int, width: int, pieces: int
) -> None:
    """Right, the same bits whatever rows stand beside a row, and nothing written elsewhere."""

    def pointer(array: numpy.ndarray) -> ctypes.c_void_p:
        return array.ctypes.data_as(ctypes.c_void_p)

    rng = numpy.random.default_rng(0)
    weights = rng.normal(size=(width, pieces, n_in)).astype("float32")
    rows = rng.normal(size=(n_rows, n_in)).astype("float32")
    n_out = width * pieces
    panels = numpy.zeros(-(-n_out // 16) * 16 * n_in, dtype="float32")
    tiles.pack(pointer(panels), pointer(weights), *map(ctypes.c_ssize_t, (n_in, width, pieces)))

    def multiply(rows: numpy.ndarray) -> numpy.ndarray:
        out = numpy.full((len(rows) + 1, n_out + 2), 7, dtype="float32")
        places = numpy.asarray([row.ctypes.data for row in rows], dtype="uintp")
        step, n, *sizes = map(ctypes.c_ssize_t, (n_out + 2, len(rows), n_in, n_out))
        arguments = (pointer(out), step, pointer(places), n, pointer(panels), *sizes)
        if not tiles.multiply(cpu.encode(), *arguments):
            pytest.skip(f"this processor has no {cpu}")
        assert (out[-1] == 7).all() and (out[:, n_out:] == 7).all()
        return out[:-1, :n_out]

    found = multiply(rows)
    expected = numpy.einsum("ri,wpi->rpw", rows.astype("float64"), weights)
    assert found.reshape(n_rows, pieces, width) == pytest.approx(expected, abs=1e-5)
    for i in range(n_rows):
        assert (multiply(rows[i : i + 1]) == found[i]).all()


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_dropout(drop: Any, rate: float) -> None:
    """Units are dropped as often as they should, each by itself; others are scaled; so in ReLU."""
    steps, width = 4000, 96
    starts = numpy.random.default_rng(0).integers(2**32, size=steps, dtype="uint32")
    dropped = numpy.zeros((steps, width), dtype=bool)
    for step, start in enumerate(starts):
        hidden = numpy.ones(width, dtype="float32")
        winner = numpy.full(width, 1, dtype="uint8")
        relu = numpy.ones(width, dtype="float32")
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (hidden, winner, relu)]
        start, limit = ctypes.c_uint32(int(start)), ctypes.c_uint32(int(rate * 2**32))
        drop.drop(*pointers[:2], start, limit, ctypes.c_float(1 / (1 - rate)), width)
        drop.drop(pointers[2], None, start, limit, ctypes.c_float(1 / (1 - rate)), width)
        assert (relu == hidden).all()
        dropped[step] = hidden == 0
        assert (winner == numpy.where(dropped[step], 255, 1)).all()
        assert hidden[~dropped[step]] == pytest.approx(1 / (1 - rate))
    error = 5 * (rate * (1 - rate) / steps) ** 0.5  # five standard deviations
    assert abs(dropped.mean() - rate) < error / width**0.5
    assert numpy.abs(dropped.mean(axis=0) - rate).max() < error
    for distance in (1, 2, 16, 64):
        both = (dropped[:, distance:] & dropped[:, :-distance]).mean(axis=0)
        assert numpy.abs(both - rate**2).max() < 5 * (rate**2 * (1 - rate**2) / steps) ** 0.5
