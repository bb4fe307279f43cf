"""The format checks of the official validator of Universal Dependencies (package udtools)."""

from __future__ import annotations

import io
from argparse import Namespace
from functools import cache
from typing import Any

import pytest


@cache
def validator(level: int) -> Any:
    """The validator; it reads large tables when it is made."""
    package = pytest.importorskip(
        "udtools.validator", reason="needs the validator of the package udtools"
    )
    return package.Validator(lang="ud", level=level, args=Namespace(quiet=True))


def format_errors(conllu: str, level: int = 2) -> list[str]:
    """What the validator objects to; the test is skipped where it is not installed.

    Args:
        conllu: CoNLL-U text.
        level: 1: columns, numbers, whitespace. 2: tags, trees, texts and sentence ids too.
    """
    state = validator(level).validate_file_handle(io.StringIO(conllu))
    return [
        f"line {one.lineno}: {one.message}"
        for one in state.error_tracker
        if type(one).__name__ == "Error"
    ]
