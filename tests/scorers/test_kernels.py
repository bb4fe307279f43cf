"""`kernels.h` is C for every compiler: it is checked with those that are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from spacy_nmparse import scorers

HEADER = Path(scorers.__file__).parent / "kernels.h"
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
# Compilers for systems whose C library is not here: what the header needs of it.
FREESTANDING = ("-nostdinc", "-ffreestanding")
STDDEF = "typedef __SIZE_TYPE__ size_t; typedef __PTRDIFF_TYPE__ ptrdiff_t;\n"
STRING = "void *memcpy(void *, const void *, __SIZE_TYPE__);\n"
MATH = "float sqrtf(float);\n"
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
        (tmp_path / "stddef.h").write_text(STDDEF, encoding="utf-8")
        (tmp_path / "string.h").write_text(STRING, encoding="utf-8")
        (tmp_path / "math.h").write_text(MATH, encoding="utf-8")
        (tmp_path / "features.h").write_text("", encoding="utf-8")
    functions = re.findall(r"^static (?:inline )?\w+ (nmp_\w+)\(", HEADER.read_text("utf-8"), re.M)
    assert len(functions) > 10
    used = " ".join(f"(void){function};" for function in functions)
    source = tmp_path / "use.c"
    source.write_text(
        f'#include "kernels.h"\nint main(void) {{ {used} return 0; }}\n', encoding="utf-8"
    )
    command = [compiler, *options, f"-I{tmp_path}", f"-I{HEADER.parent}", "-c", str(source)]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "use.o")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
