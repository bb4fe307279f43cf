"""How a parser learns from gold trees: the block ``learning`` of its config.

``GreedyLearning`` is the package's own way. Another package brings one as a subclass, by an entry
point of the group ``spacy_misc`` that the block names.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy

import spacy_nmparse.learning.rollout as rollout
from spacy_nmparse.learning.lesson import Lesson
from spacy_nmparse.pipe.schedule import Chance
from spacy_nmparse.systems import TransitionSystem


class GreedyLearning:
    """Learns single moves along greedy derivations (see ``learning.rollout``).

    oracle: Name of the system's oracle that says what is right.
    explore: Probability of following the model rather than the oracle at each step; a number or a
        schedule of one value an update.

    Raises ValueError for a probability outside 0 .. 1.
    """

    def __init__(self, oracle: str = "dynamic", explore: float | Iterable[float] = 1.0) -> None:
        self.oracle = oracle
        self.explore = Chance(explore, "explore")

    def check(self, name: str, system: TransitionSystem) -> None:
        """Raise ValueError where a parser with this system cannot learn so.

        Args:
            name: The component's name.
            system: Its system, without labels.
        """
        system.oracle_id(self.oracle)
        explore = self.explore.constant
        if self.oracle == "static" and explore:
            warnings.warn(
                f"The component '{name}' has oracle = 'static' and explore = {explore}: in "
                f"training it follows the model off the one path that this oracle is made for. "
                f"Set explore = 0, or take the oracle 'dynamic'.",
                stacklevel=3,
            )

    @property
    def heeds_teachers(self) -> bool:
        """Whether there are updates that learn from teachers."""
        return True

    def restart(self) -> None:
        """Begin anew: schedules go back to their first values."""
        self.explore.restart()

    def learn(self, lesson: Lesson) -> tuple[Any, float]:
        """Learn from a batch: what the model's backward pass takes, and the loss."""
        return self.roll_out(lesson, self.explore.next())

    def roll_out(self, lesson: Lesson, explore: float) -> tuple[Any, float]:
        """``learn`` by one greedy rollout for each tree."""
        return rollout.learn(lesson, self.oracle, explore, numpy.random.randint(2**31))
