"""The weights of a linear scorer, as the averaged perceptron learns them.

Thinc's optimizers change parameters by gradients. The perceptron adds 1 to weights or takes 1 off
(Rosenblatt 1958; Collins 2002), so it keeps its weights in a shim, as Thinc calls what learns by
itself: ``finish_update`` applies what batches have taught, without an optimizer.

Parsing, and saving, take the average of the weights over all examples (Freund & Schapire 1999). It
is made when it is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy
import srsly
from thinc.api import Model
from thinc.shims.shim import Shim

from spacy_nmparse.lab.linear.updates import Lessons, apply_changes

#: Training that goes on from saved weights rounds them to multiples of this: then all sums are
#: exact, in whatever order.
UNIT = 1.0 / 1024.0


class Perceptron(Shim):
    """The weights. Empty until ``reset`` or ``from_bytes``."""

    def __init__(self) -> None:
        super().__init__(None)
        self.begin(None)

    @property
    def size(self) -> int:
        """How many weights there are; 0: none yet."""
        known = self._average if self._present is None else self._present
        return 0 if known is None else len(known)

    def reset(self, size: int) -> None:
        """Start with that many weights, all 0."""
        self.begin(numpy.zeros(size, dtype="float32"))

    def begin(self, weights: numpy.ndarray | None) -> None:
        """Start with these weights, float32 (size,); None: without any."""
        self._average = weights  # None: stale
        self._present: numpy.ndarray | None = None  # None: nothing learned since it was loaded
        self._totals: numpy.ndarray | None = None
        self._time = 0
        self._pending: list[Lessons] = []

    def parsing_weights(self) -> numpy.ndarray:
        """Weights to parse with: the average, float32 (size,)."""
        if self._average is None:
            assert self._present is not None and self._totals is not None
            average = self._totals / -max(self._time, 1)
            average += self._present
            self._average = average.astype("float32")
        return self._average

    def learning_weights(self) -> numpy.ndarray:
        """Weights to learn with: the present ones, float32 (size,)."""
        if self._present is None:
            average = self.parsing_weights()
            self._present = numpy.rint(average / UNIT).astype("float32") * numpy.float32(UNIT)
            self._totals = numpy.zeros(len(average), dtype="float64")
        return self._present

    def note(self, taught: Lessons) -> None:
        """Keep what a batch has taught for ``finish_update``."""
        self._pending.append(taught)

    def finish_update(self, optimizer: Any) -> None:
        """Learn what the batches since the last time have taught; no optimizer is needed."""
        for lessons in self._pending:
            self.learn(lessons)
            self._average = None
        self._pending = []

    def learn(self, lessons: Lessons) -> None:
        """Change the weights by what a batch has taught."""
        present = self.learning_weights()
        assert self._totals is not None
        self._time = apply_changes(present, self._totals, self._time, lessons)

    def resize(self, size: int) -> None:
        """Make room for more weights, 0 at first, behind those that there are."""
        self._average = longer(self._average, size)
        self._present = longer(self._present, size)
        self._totals = longer(self._totals, size)

    def to_device(self, device_type: str, device_id: int) -> None:
        """The weights stay where they are: searches run on the CPU."""

    def to_bytes(self) -> bytes:
        """The average: a bit for each weight, whether it is 0, and those that are not."""
        if not self.size:
            return b""
        weights = self.parsing_weights()
        known = weights != 0
        data: bytes = srsly.msgpack_dumps(
            {
                "size": len(weights),
                "known": numpy.packbits(known).tobytes(),
                "weights": weights[known].astype("<f4").tobytes(),
            }
        )
        return data

    def from_bytes(self, data: bytes) -> Perceptron:
        """Load what ``to_bytes`` gave.

        Raises:
            ValueError: the data are damaged.
        """
        if not data:
            self.begin(None)
            return self
        content = srsly.msgpack_loads(data)
        size, bits = content["size"], numpy.frombuffer(content["known"], dtype="uint8")
        if not isinstance(size, int) or len(bits) != (size + 7) // 8:  # before any room is made
            raise ValueError(f"there are {8 * len(bits)} signs of weights, not {size}")
        known = numpy.unpackbits(bits, count=size).astype(bool)
        weights = numpy.zeros(size, dtype="float32")
        weights[known] = numpy.frombuffer(content["weights"], dtype="<f4")
        self.begin(weights)
        return self


def longer(array: Any, size: int) -> Any:
    """The array, or None for None, with zeros behind it up to that size."""
    if array is None:
        return None
    return numpy.concatenate((array, numpy.zeros(size - len(array), dtype=array.dtype)))


def perceptron_of(model: Model) -> Perceptron:
    """The weights of a linear scorer."""
    (found,) = model.shims
    assert isinstance(found, Perceptron)
    return found
