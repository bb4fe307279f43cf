"""Models that score the moves of transition systems."""

from spacy_nmparse.spacy_version import require_spacy

require_spacy()
