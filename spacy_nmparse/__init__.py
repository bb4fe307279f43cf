"""Transition-based dependency parsers for spaCy that repair mistakes and draw crossing arcs."""

from spacy_nmparse.about import __version__
from spacy_nmparse.spacy_version import warn_of_spacy

__all__ = ["__version__"]

warn_of_spacy()
