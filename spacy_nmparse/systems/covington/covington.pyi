from collections.abc import Sequence
from typing import Any

from spacy_nmparse.systems.table import MoveTable

class Covington(MoveTable):
    def __init__(
        self,
        labels: Sequence[str] | None = None,
        *,
        nonmonotonic: bool = False,
        explicit_root: bool = False,
        max_length: int = 0,
        **options: Any,
    ) -> None: ...

class NonLocalCovington(Covington): ...
