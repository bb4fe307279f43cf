"""Layers and products that any Thinc model can use."""
