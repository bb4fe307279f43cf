from typing import Any

class Scorer:
    n_words: int
    lookahead: int
    margin: int
    crossing_bias: float
    tag_scores: Any
    def begin_learning(self, dropout: float, seed: int) -> None: ...
    def gradients(self) -> Any: ...
