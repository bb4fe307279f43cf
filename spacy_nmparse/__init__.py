"""Transition-based dependency parsers for spaCy that repair mistakes and draw crossing arcs."""

from spacy_nmparse.about import __version__

__all__ = ["__version__"]
