"""Layers and products that any Thinc model can use."""

from spacy_nmparse.layers import cpu as cpu  # a wrong NMPARSE_CPU is an error before all else
