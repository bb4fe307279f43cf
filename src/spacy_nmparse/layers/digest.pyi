from collections.abc import Iterable

import numpy

def digest(arrays: Iterable[numpy.ndarray]) -> int: ...
