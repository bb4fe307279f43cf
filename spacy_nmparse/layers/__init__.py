"""Layers and products that any Thinc model can use."""

from spacy_nmparse.compiled import require_compiled

require_compiled("spacy_nmparse.layers.cpu")
from spacy_nmparse.layers.cpu import CLASS as CLASS  # noqa: E402 a wrong NMPARSE_CPU is an error first
