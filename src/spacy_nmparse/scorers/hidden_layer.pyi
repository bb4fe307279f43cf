from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from spacy_nmparse.scorers.features import Features

class Layer:
    def __init__(
        self,
        features: Features,
        n_labels: int,
        weights: Mapping[str, Any],
        pieces: int,
        sums_items: bool = ...,
    ) -> None: ...

def check_shapes(weights: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> None: ...
def padded(array: NDArray[Any]) -> NDArray[Any]: ...
