"""A config's block ``learning``: training with a beam (see ``lab.beam.rollout``)."""

# No postponed annotations: spaCy validates configs by this signature.

from collections.abc import Iterable
from typing import Any

import numpy

import spacy_nmparse.lab.beam.rollout as rollout
from spacy_nmparse.learning.lesson import Lesson
from spacy_nmparse.pipe.learning import GreedyLearning
from spacy_nmparse.pipe.schedule import Chance
from spacy_nmparse.settings import WIDTH, one_of
from spacy_nmparse.systems import TransitionSystem


class BeamLearning(GreedyLearning):
    """Learns whole sequences of moves, with a beam, against all others in it.

    oracle: Name of the oracle that says which sequences are right.
    explore: As of ``GreedyLearning``, for the updates without the beam.
    update: When the beam is learned from, and against what: "max_violation", "early_update" or
        "latent".
    width: Hypotheses in training; in parsing that is ``beam_width``.
    share: Probability that an update uses the beam; others are those of ``GreedyLearning``. A
        number or a schedule of one value an update.
    """

    def __init__(
        self,
        oracle: str = "dynamic",
        explore: float | Iterable[float] = 1.0,
        update: str = "max_violation",
        width: int = 8,
        share: float | Iterable[float] = 1.0,
    ) -> None:
        super().__init__(oracle, explore)
        self.update, self.width = update, width
        self.share = Chance(share, "share")

    def check(self, name: str, system: TransitionSystem) -> None:
        """As ``GreedyLearning.check``; ValueError also for an unknown update or a width below 1."""
        one_of(rollout.UPDATES).checked(self.update, name, "update")
        WIDTH.checked(self.width, name, "width")
        super().check(name, system)

    @property
    def heeds_teachers(self) -> bool:
        """Whether there are updates without the beam: those with it do not heed teachers."""
        return not self.share.certain

    def restart(self) -> None:
        """As ``GreedyLearning.restart``."""
        super().restart()
        self.share.restart()

    def learn(self, lesson: Lesson) -> tuple[Any, float]:
        """As ``GreedyLearning.learn``."""
        explore, share = self.explore.next(), self.share.next()
        if numpy.random.random() >= share:
            return self.roll_out(lesson, explore)
        seed = numpy.random.randint(2**31)
        return rollout.learn(lesson, self.oracle, self.update, self.width, seed)
