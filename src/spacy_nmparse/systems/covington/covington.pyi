from collections.abc import Sequence

from spacy_nmparse.systems.system import TransitionSystem

class Covington(TransitionSystem):
    def __init__(
        self,
        labels: Sequence[str] | None = None,
        *,
        nonmonotonic: bool = False,
        explicit_root: bool = False,
        single_root: bool = False,
        segment: bool = False,
        root_label: str | None = None,
        max_length: int = 0,
    ) -> None: ...

class NonLocalCovington(Covington): ...
