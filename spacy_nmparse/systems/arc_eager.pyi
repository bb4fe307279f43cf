from collections.abc import Sequence
from typing import Any, Final

from spacy_nmparse.systems.table import MoveTable

PUSHES: Final[dict[str, int]]

def check_push(
    push: str, labels: Sequence[str] | None, left: bool, reduces: bool, labelled: bool
) -> None: ...

class ArcEager(MoveTable):
    def __init__(
        self,
        labels: Sequence[str] | None = None,
        *,
        nonmonotonic_left: bool = False,
        nonmonotonic_reduce: bool = False,
        labelled_reduce: bool = False,
        push: str = "any",
        **options: Any,
    ) -> None: ...
