from collections.abc import Sequence

from spacy_nmparse.systems.arc_standard import ArcStandard

class SwapStandard(ArcStandard):
    def __init__(
        self,
        labels: Sequence[str] | None = None,
        *,
        single_root: bool = False,
        segment: bool = False,
        root_label: str | None = None,
    ) -> None: ...
