from collections.abc import Sequence

from spacy_nmparse.systems.system import TransitionSystem

def root_first_glossary(single_root: bool, segment: bool) -> dict[str, str]: ...

class RootFirstArcEager(TransitionSystem):
    def __init__(
        self,
        labels: Sequence[str] | None = None,
        *,
        root_first: bool = True,
        single_root: bool = False,
        segment: bool = False,
        root_label: str | None = None,
    ) -> None: ...
