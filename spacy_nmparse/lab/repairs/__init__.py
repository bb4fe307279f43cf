"""The four repair transitions of arc-eager, and how far a repair can help."""
