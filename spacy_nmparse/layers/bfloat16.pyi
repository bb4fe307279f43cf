from typing import Any

import numpy

HAS_BFLOAT16: bool

class Weights:
    def __init__(self, W: Any, rounded: bool = False) -> None: ...
    def times(self, A: Any, out: numpy.ndarray | None = None) -> Any: ...

def to_bfloat16(array: numpy.ndarray) -> numpy.ndarray: ...
