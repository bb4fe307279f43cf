from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from spacy_nmparse.scorers.features import Features
from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.scorers.tree_scores import TreeScores
from spacy_nmparse.systems.system import TransitionSystem

MOST_PAIRS: int

class ArcScorerKernel(Scorer):
    def __init__(
        self,
        features: Mapping[str, Features],
        system: TransitionSystem,
        vectors: NDArray[Any],
        tree: TreeScores,
        weights: Mapping[str, Any],
        pieces: int,
        n_pairs: int,
        rounded: bool,
    ) -> None: ...

def check_system(system: TransitionSystem) -> None: ...
