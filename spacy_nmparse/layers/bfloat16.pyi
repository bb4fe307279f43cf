from typing import Any

import numpy

HAS_BFLOAT16: bool

class Weights:
    packed: numpy.ndarray | None
    def __init__(self, W: Any, rounded: bool = False) -> None: ...
    def times(self, A: Any, out: numpy.ndarray | None = None) -> Any: ...
