"""The spaCy component."""

from spacy_nmparse.spacy_version import require_spacy

require_spacy()
