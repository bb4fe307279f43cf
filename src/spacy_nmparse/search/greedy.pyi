from collections.abc import Sequence
from typing import Final

import numpy
from numpy.typing import NDArray

from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.systems.system import TransitionSystem

WINDOW: Final[int]

def parse(
    system: TransitionSystem,
    scored: Scorer,
    lengths: Sequence[int],
    constraints: NDArray[numpy.int8],
    probabilities: NDArray[numpy.float32] | None = None,
) -> tuple[NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int8]]: ...
