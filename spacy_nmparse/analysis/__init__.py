"""Analyses of parsers and treebanks: derivations, errors, statistics, pictures."""

from __future__ import annotations

from spacy_nmparse.analysis.derivation import (
    Derivation,
    all_derivations,
    derive,
    derive_actions,
    derive_gold,
)
from spacy_nmparse.analysis.errors import find_errors
from spacy_nmparse.analysis.noun_chunks import register_noun_chunks, ud_noun_chunks
from spacy_nmparse.analysis.page import render
from spacy_nmparse.analysis.steps import Arc, Choice, Step

__all__ = [
    "Arc",
    "Choice",
    "Derivation",
    "Step",
    "all_derivations",
    "derive",
    "derive_actions",
    "derive_gold",
    "find_errors",
    "register_noun_chunks",
    "render",
    "ud_noun_chunks",
]
