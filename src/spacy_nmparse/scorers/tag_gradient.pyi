from collections.abc import Sequence

import numpy
from numpy.typing import NDArray

def tag_gradient(
    scores: NDArray[numpy.float32],
    tags: NDArray[numpy.int32],
    sizes: Sequence[int],
    weight: float,
) -> None: ...
