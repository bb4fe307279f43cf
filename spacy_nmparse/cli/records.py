"""Results as JSON files, and what they depend on: versions, the machine, settings."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy
import spacy
import thinc

from spacy_nmparse.about import __version__
from spacy_nmparse.layers.cpu import CLASS
from spacy_nmparse.pipe.files import write_files


def versions() -> dict[str, str]:
    """Collect the versions that a result depends on.

    Returns:
        The version of each program and library.
    """
    return {
        "python": platform.python_version(),
        "spacy_nmparse": __version__,
        "spacy": spacy.__version__,
        "thinc": thinc.__version__,
        "numpy": numpy.__version__,
    }


def machine() -> dict[str, Any]:
    """Describe the machine by what matters for speed.

    Returns:
        System, processor, its class (``spacy_nmparse.layers.cpu``) and number of cores.
    """
    processor = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor or "unknown",
        "class": CLASS,
        "cores": os.cpu_count(),
    }


def dump(result: dict[str, Any], path: Path) -> None:
    """Write a result as JSON: indented, but lists and small groups of numbers on one line.

    Args:
        result: What to write.
        path: The file; its folder is made if needed.
    """
    lines: list[str] = []
    mark = "@line"  # stands for one of them
    while mark in str(result):
        mark = f"@{mark}"

    def are_numbers(values: Iterable[Any]) -> bool:
        return all(isinstance(value, (int, float)) for value in values)

    def fold(value: Any) -> Any:
        if isinstance(value, float):
            return round(value, 6)
        if isinstance(value, list):
            folded: Any = [fold(item) for item in value]
            small = are_numbers(folded)
        elif isinstance(value, dict):
            folded = {key: fold(item) for key, item in value.items()}
            small = len(folded) <= 3 and are_numbers(folded.values())
        else:
            return value
        if not small:
            return folded
        lines.append(json.dumps(folded, separators=(",", ":"), ensure_ascii=False))
        return f"{mark}{len(lines) - 1}@"

    text = json.dumps(fold(result), indent=1, ensure_ascii=False)
    text = re.sub(rf'"{mark}(\d+)@"', lambda match: lines[int(match[1])], text)
    write_files({path: f"{text}\n".encode("utf-8", "backslashreplace")})  # names of files


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Read settings from the command line, as `spacy train` reads its own.

    Args:
        settings: KEY=VALUE each, the key with its dots; values are JSON, or else strings.

    Returns:
        The values by key.

    Raises:
        ValueError: If one has no key or no "=".
    """
    result: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not (key and equals):
            raise ValueError(f"Setting {setting!r}: write KEY=VALUE.")
        try:
            result[key] = json.loads(value)
        except json.JSONDecodeError:
            result[key] = value
    return result
