from typing import Any

from numpy.typing import NDArray

from spacy_nmparse.scorers.features import Features
from spacy_nmparse.systems.system import TransitionSystem

class StateScorerKernel:
    def __init__(
        self, features: Features, system: TransitionSystem, weights: dict[str, Any], pieces: int
    ) -> None: ...

def padded(array: NDArray[Any]) -> NDArray[Any]: ...
def label_blocks(system: TransitionSystem) -> list[int]: ...
