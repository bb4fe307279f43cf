"""Tables and figures as text."""

from __future__ import annotations

from collections.abc import Sequence

from spacy_nmparse.analysis.tables import markdown, mean_and_deviation

__all__ = ["markdown", "mean_and_deviation", "page_table"]


def page_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Format a Markdown table for a page, without padding; the first columns, as many as `left`
    says, and columns that hold text are aligned to the left."""
    rule = []
    for number, column in enumerate(zip(*rows, strict=True)):
        text = number < left or any(cell[:1].isalpha() or "(" in cell for cell in column)
        rule.append("---" if text else "--:")
    lines = [header, rule, *rows]
    return "\n".join(
        "|" + "".join(f" {cell} |" if cell else " |" for cell in cells) for cells in lines
    )
