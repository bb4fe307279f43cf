import numpy

class TreeScores:
    """The biaffine scores of a batch."""

    @property
    def n_words(self) -> int: ...
    def __init__(
        self,
        items: numpy.ndarray,
        lengths: numpy.ndarray,
        weights: dict[str, numpy.ndarray],
        tree_weight: float,
        rounded: bool,
    ) -> None: ...
