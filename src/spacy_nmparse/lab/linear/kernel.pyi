from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from spacy_nmparse.lab.linear.templates import Templates
from spacy_nmparse.scorers.scorer import Scorer
from spacy_nmparse.systems.system import TransitionSystem

class Mistakes(NamedTuple):
    n_examples: int
    times: NDArray[numpy.int64]
    classes: NDArray[numpy.int32]
    amounts: NDArray[numpy.float32]
    ends: NDArray[numpy.int64]
    features: NDArray[numpy.uint32]

class Examples(NamedTuple):
    ends: NDArray[numpy.int64]
    features: NDArray[numpy.uint32]
    class_ends: NDArray[numpy.int64]
    classes: NDArray[numpy.int32]

class LinearScorerKernel(Scorer):
    def __init__(
        self,
        templates: Templates,
        system: TransitionSystem,
        words: NDArray[numpy.uint64],
        tags: NDArray[numpy.uint64],
        weights: NDArray[numpy.float32],
        bits: int,
        logistic: bool = False,
    ) -> None: ...
    def gradients(self) -> Mistakes | Examples: ...

def apply_mistakes(
    weights: NDArray[numpy.float32],
    totals: NDArray[numpy.float64],
    time: int,
    mistakes: Mistakes,
) -> int: ...
def learn_examples(
    weights: NDArray[numpy.float32],
    taken: NDArray[numpy.float32],
    counts: NDArray[numpy.uint8],
    time: int,
    penalty: float,
    examples: Examples,
    rate: float,
    l1: float,
    min_count: int,
) -> tuple[int, float]: ...
def n_columns(system: TransitionSystem) -> int: ...
def focus(system: TransitionSystem) -> list[str]: ...
def check_system(system: TransitionSystem) -> None: ...
