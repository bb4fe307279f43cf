from collections.abc import Mapping, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from spacy_nmparse.scorers.state_scorer import Gradients, Scored
from spacy_nmparse.systems.gold import Gold
from spacy_nmparse.systems.system import TransitionSystem

def learn(
    system: TransitionSystem,
    scored: Scored,
    params: Mapping[str, Any],
    golds: Sequence[Gold],
    constraints: NDArray[numpy.int8],
    oracle: str,
    explore: float,
    dropout: float,
    seed: int,
) -> tuple[Gradients, float, int]: ...
