from collections.abc import Iterable, Sequence
from typing import Any, Final

from spacy_nmparse.systems.arc_eager import ArcEager

REPAIRS: Final[tuple[str, ...]]

def check_repairs(repairs: str | Iterable[str]) -> tuple[str, ...]: ...
def check_options(
    options: dict[str, Any],
    wanted: Sequence[str],
    decoupled_repairs: bool,
    unshift: bool,
    max_search_states: int,
) -> None: ...
def revised_glossary(options: dict[str, Any]) -> dict[str, str]: ...

class RevisedArcEager(ArcEager):
    def __init__(
        self,
        labels: Sequence[str] | None = None,
        *,
        repairs: str | Iterable[str] = (),
        decoupled_repairs: bool = False,
        unshift: bool = False,
        max_search_states: int = 200,
        **options: Any,
    ) -> None: ...
