from typing import Any

from spacy_nmparse.scorers.label_rules import LabelRules

class Scorer:
    n_words: int
    lookahead: int
    margin: int
    crossing_bias: float
    label_rules: LabelRules | None
    tag_scores: Any
    def begin_learning(self, dropout: float, seed: int) -> None: ...
    def gradients(self) -> Any: ...
