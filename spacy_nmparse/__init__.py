"""Transition-based dependency parsers for spaCy that repair mistakes and draw crossing arcs."""

from spacy_nmparse.about import __version__
from spacy_nmparse.spacy_version import warn_of_spacy
from spacy_nmparse.uncompiled import explain

__all__ = ["__version__"]

explain()
warn_of_spacy()
