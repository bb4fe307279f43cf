"""The headers are C for every compiler: they are checked with those that are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

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
