from collections.abc import Sequence

from spacy_nmparse.systems.system import TransitionSystem

def buffer_glossary(segment: bool) -> dict[str, str]: ...

class BufferArcStandard(TransitionSystem):
    def __init__(
        self,
        labels: Sequence[str] | None = None,
        *,
        buffer_arcs: bool = True,
        single_root: bool = False,
        segment: bool = False,
        root_label: str | None = None,
    ) -> None: ...
