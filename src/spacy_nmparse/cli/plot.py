"""``nmparse plot``: pictures of training and results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spacy_nmparse.analysis.plots import KINDS
from spacy_nmparse.cli.console import fail, failures


def run(kind: str, files: list[Path], output: Path, title: str | None, measure: str | None) -> None:
    """Draw a picture."""
    if kind not in KINDS:
        fail(f"There is no plot {kind!r}: there are {', '.join(KINDS)}.")
    for path in files:
        if not path.is_file():
            fail(f"There is no file {path}.")
    options: dict[str, Any] = {}
    if measure is not None and kind == "learning":
        options["measure"] = measure
    with failures():
        KINDS[kind](files, output, title, **options)
    print(f"Written: {output}")
