from collections.abc import Iterable, Sequence
from typing import Any, Final

from spacy_nmparse.systems.system import TransitionSystem

REPAIRS: Final[tuple[str, ...]]
PUSHES: Final[dict[str, int]]

def check_repairs(repairs: str | Iterable[str]) -> tuple[str, ...]: ...
def check_root_first(options: dict[str, Any]) -> None: ...
def check_push(
    push: str,
    labels: Sequence[str] | None,
    left: bool,
    reduces: bool,
    labelled: bool,
    repairs: Sequence[str],
    unshift: bool,
) -> None: ...

class ArcEager(TransitionSystem):
    def __init__(
        self,
        labels: Sequence[str] | None = None,
        *,
        nonmonotonic_left: bool = False,
        nonmonotonic_reduce: bool = False,
        labelled_reduce: bool = False,
        repairs: Iterable[str] = (),
        decoupled_repairs: bool = False,
        unshift: bool = False,
        push: str = "any",
        root_first: bool = False,
        single_root: bool = False,
        segment: bool = False,
        root_label: str | None = None,
        max_search_states: int = ...,
    ) -> None: ...
