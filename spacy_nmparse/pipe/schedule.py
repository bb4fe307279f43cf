"""Probabilities of training: a number, or one value an update."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Chance:
    """A probability that may change with every update.

    values: a number, or an iterable (as Thinc's schedules are) whose values are used up one an
        update; the last one stays. Copies and pickles keep the present value.
    name: the setting's name, for errors.
    """

    def __init__(self, values: float | Iterable[float], name: str) -> None:
        self._values = values
        self._name = name
        self._iterator: Iterator[float] | None = None
        self._now = 0.0
        if isinstance(values, int | float):
            self._now = self._checked(float(values))
        else:
            self.restart()

    def _checked(self, value: float) -> float:
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{self._name} is a probability: {value} is not between 0 and 1.")
        return value

    def restart(self) -> None:
        """Go back to the first value, where the iterable can be read again."""
        if not isinstance(self._values, int | float):
            self._iterator = iter(self._values)

    @property
    def constant(self) -> float | None:
        """The probability of all updates; None: it follows a schedule."""
        return self._now if self._iterator is None else None

    @property
    def certain(self) -> bool:
        """Whether it is 1, now and from now on."""
        return self.constant == 1.0

    def next(self) -> float:
        """The probability of the next update."""
        if self._iterator is not None:
            self._now = self._checked(float(next(self._iterator, self._now)))
        return self._now

    def __deepcopy__(self, memo: dict) -> Chance:
        return Chance(self._now, self._name)

    def __reduce__(self) -> tuple:
        return Chance, (self._now, self._name)
