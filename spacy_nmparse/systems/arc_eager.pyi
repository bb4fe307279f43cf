from collections.abc import Iterable, Sequence

from spacy_nmparse.systems.system import TransitionSystem

class ArcEager(TransitionSystem):
    def __init__(
        self,
        labels: Sequence[str] | None = None,
        *,
        nonmonotonic_left: bool = False,
        nonmonotonic_reduce: bool = False,
        labelled_reduce: bool = False,
        repairs: Iterable[str] = (),
        unshift: bool = False,
        push: str = "any",
        single_root: bool = False,
        segment: bool = False,
        root_label: str | None = None,
        search: int = ...,
    ) -> None: ...
