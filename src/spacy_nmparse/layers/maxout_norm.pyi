from typing import Any

from spacy_nmparse.layers.products import Weights

class MaxoutNorm:
    def __init__(
        self,
        W: Any,
        weights: Weights,
        b: Any,
        gain: Any,
        shift: Any,
        lengths: Any,
        window: int = ...,
        reach_in: int = ...,
        reach_out: int = ...,
        with_far: bool = ...,
        rate: float = ...,
        seed: Any = ...,
    ) -> None: ...
    def forward(self, X: Any, learn: bool) -> Any: ...
    def backward(self, dY: Any) -> tuple[Any, tuple[Any, Any, Any, Any]]: ...
