"""Scores as text, and tables as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence


def mean_and_deviation(values: Iterable[float | None], factor: float, digits: int) -> str:
    """Format the values that are known, times a factor, as mean ± standard deviation; `-` if none
    is."""
    known = [value * factor for value in values if value is not None]
    if not known:
        return "-"
    text = f"{statistics.fmean(known):.{digits}f}"
    return f"{text} ± {statistics.stdev(known):.{digits}f}" if len(known) > 1 else text


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format an aligned Markdown table: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [cells[0].ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([line(header), line(rule), *map(line, rows)])
