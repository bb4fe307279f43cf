"""Layers and products that any Thinc model can use."""

from spacy_nmparse.layers.cpu import CLASS as CLASS  # a wrong NMPARSE_CPU is an error first
