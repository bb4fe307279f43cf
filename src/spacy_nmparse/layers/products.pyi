from collections.abc import Sequence
from typing import Any

import numpy

HAS_BFLOAT16: bool
HAS_TILES: bool

def packed(
    W: Any, rounded: bool = False, parts: Sequence[tuple[int, int]] | None = None, pieces: int = 1
) -> Any: ...

class Weights:
    panels: numpy.ndarray | None
    pairs: numpy.ndarray | None
    def __init__(self, W: Any, rounded: bool = False, pieces: int = 1) -> None: ...
    def times(self, A: Any, out: numpy.ndarray | None = None) -> Any: ...
