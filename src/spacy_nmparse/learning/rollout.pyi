from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.systems.gold import Gold
from spacy_nmparse.systems.system import TransitionSystem

def learn(
    system: TransitionSystem,
    scored: Scorer,
    golds: Sequence[Gold],
    constraints: NDArray[numpy.int8],
    oracle: str,
    explore: float,
    dropout: float,
    seed: int,
    teacher: Scorer | None = None,
    teacher_weight: float = 0.0,
) -> tuple[Any, float]: ...
