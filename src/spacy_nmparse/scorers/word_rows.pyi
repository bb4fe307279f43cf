from typing import Any

from numpy.typing import NDArray

from spacy_nmparse.scorers.hidden_layer import Layer

class WordRows:
    vectors: NDArray[Any]
    size: int
    stride: int
    def __init__(
        self, vectors: NDArray[Any], weights: NDArray[Any], layers: list[Layer], rounded: bool
    ) -> None: ...
