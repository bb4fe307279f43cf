from collections.abc import Sequence

import numpy

def affix_numbers(
    words: list[str], prefixes: Sequence[int], suffixes: Sequence[int]
) -> numpy.ndarray: ...
