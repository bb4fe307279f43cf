from collections.abc import Collection, Sequence

class LabelRules:
    def __init__(
        self, names: Sequence[str], unique: Collection[str], childless: Collection[str]
    ) -> None: ...
