from collections.abc import Sequence

from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.systems.system import TransitionSystem

class EnsembleKernel(Scorer):
    def __init__(self, members: Sequence[Scorer], system: TransitionSystem) -> None: ...
