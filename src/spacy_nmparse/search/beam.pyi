from collections.abc import Sequence
from typing import Final

import numpy
from numpy.typing import NDArray

from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.systems.state import State
from spacy_nmparse.systems.system import Action, TransitionSystem

REACH: Final[int]
SAME: Final[float]
WINDOW: Final[int]

Analysis = tuple[float, NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int8]]
Parts = list[tuple[int, list[Analysis]]]

def probabilities(
    system: TransitionSystem, scored: Scorer, offset: int, state: State
) -> dict[Action, tuple[float, str | None]]: ...
def search_parts(
    system: TransitionSystem,
    scored: Scorer,
    lengths: Sequence[int],
    constraints: NDArray[numpy.int8],
    width: int,
    n: int,
    reach: int = ...,
) -> list[Parts]: ...
def parse(
    system: TransitionSystem,
    scored: Scorer,
    lengths: Sequence[int],
    constraints: NDArray[numpy.int8],
    width: int,
    reach: int = ...,
    probabilities: NDArray[numpy.float32] | None = None,
    gap: float = ...,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int8]]: ...
def n_best(
    system: TransitionSystem,
    scored: Scorer,
    lengths: Sequence[int],
    constraints: NDArray[numpy.int8],
    width: int,
    n: int,
    reach: int = ...,
) -> list[list[Analysis]]: ...
def combine(parts: Parts, n: int) -> list[Analysis]: ...
