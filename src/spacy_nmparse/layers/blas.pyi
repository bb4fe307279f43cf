from typing import Any

import numpy

def matmul(A: Any, B: Any, out: numpy.ndarray | None = None) -> Any: ...
