"""Short descriptions of stacks, buffers and lists, which hold the words of a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

ROOT = -1  # the number that stands for ROOT in the Python face


class Items(Sequence[int]):
    """A tuple of word numbers in little memory: numbers, a range, numbers."""

    def __init__(self, front: Sequence[int], words: range, back: Sequence[int] = ()) -> None:
        self.front, self.words, self.back = tuple(front), words, tuple(back)

    def __len__(self) -> int:
        return len(self.front) + len(self.words) + len(self.back)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return tuple(self[j] for j in range(*i.indices(len(self))))
        i = i + len(self) if i < 0 else i
        for part in (self.front, self.words, self.back):
            if 0 <= i < len(part):
                return part[i]
            i -= len(part)
        raise IndexError("No such item.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))
