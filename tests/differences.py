"""Slopes of losses by finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest


def slope(array: Any, place: Any, loss: Callable[[], float], step: float) -> float:
    """How the loss changes with one number of an array that it reads."""
    before, ends = array[place], []
    for sign in (1, -1):
        array[place] = before + sign * step
        ends.append(loss())
    array[place] = before
    return (ends[0] - ends[1]) / (2 * step)


def check_largest(array: Any, gradient: Any, loss: Callable[[], float]) -> int:
    """Compare the three largest numbers of a float32 gradient. Returns how many there are."""
    places = numpy.argsort(-abs(gradient).ravel())[:3].tolist()
    for place in (numpy.unravel_index(number, array.shape) for number in places):
        found = slope(array, place, loss, 1e-3)
        assert found == pytest.approx(float(gradient[place]), rel=0.03, abs=2e-2)
    return len(places)
