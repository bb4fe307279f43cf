"""Training configs, one for each parser."""
