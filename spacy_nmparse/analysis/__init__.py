"""What parsers do, and what treebanks hold: derivations, repairs, errors, statistics, pictures."""

from __future__ import annotations

from spacy_nmparse.analysis.derivation import (
    Arc,
    Choice,
    Derivation,
    Step,
    derive,
    derive_gold,
)
from spacy_nmparse.analysis.page import render

__all__ = ["Arc", "Choice", "Derivation", "Step", "derive", "derive_gold", "render"]
