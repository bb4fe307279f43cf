from collections.abc import Sequence
from typing import Any, Final

import numpy
from numpy.typing import NDArray

from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.systems.gold import Gold
from spacy_nmparse.systems.system import TransitionSystem

UPDATES: Final[tuple[str, ...]]
LONGEST: Final[int]

def sentences(gold: Gold) -> list[int]: ...
def window(gold: Gold, first: int, last: int) -> Gold: ...
def learn(
    system: TransitionSystem,
    scored: Scorer,
    golds: Sequence[Gold],
    constraints: NDArray[numpy.int8],
    oracle: str,
    update: str,
    width: int,
    dropout: float,
    seed: int,
) -> tuple[Any, float]: ...
