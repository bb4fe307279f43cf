from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from spacy_nmparse.scorers.features import Features
from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.systems.system import TransitionSystem

class StateScorerKernel(Scorer):
    vectors: NDArray[Any]
    word_W: NDArray[Any]
    def __init__(
        self,
        features: Features,
        system: TransitionSystem,
        vectors: NDArray[Any],
        weights: Mapping[str, Any],
        pieces: int,
        rounded: bool,
    ) -> None: ...

def check_system(system: TransitionSystem, kind: str = ...) -> None: ...
def label_blocks(system: TransitionSystem) -> list[int]: ...
