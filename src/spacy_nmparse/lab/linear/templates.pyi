from collections.abc import Iterable

import numpy
from numpy.typing import NDArray

from spacy_nmparse.systems.state import State

KINDS: dict[str, int]

class Templates:
    def __init__(self, names: Iterable[str]) -> None: ...
    @property
    def lookahead(self) -> int: ...
    def features(
        self,
        state: State,
        words: NDArray[numpy.uint64],
        tags: NDArray[numpy.uint64],
        bits: int,
    ) -> list[int]: ...

def read_value(name: str) -> tuple[int, str, str]: ...
