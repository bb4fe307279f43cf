"""Numbers and long strings in messages and tables."""

from __future__ import annotations


def shorten(text: str, width: int = 24) -> str:
    """A string for a table; in the middle of a long one are dots."""
    if len(text) <= width:
        return text
    return f"{text[: width // 2]}…{text[len(text) - width // 2 + 1 :]}"


def counted(n: int, one: str, several: str | None = None) -> str:
    """A number and what it counts: "1 sentence", "2 sentences", "1 word is", "2 words are"."""
    return f"{n} {one if n == 1 else several or one + 's'}"
