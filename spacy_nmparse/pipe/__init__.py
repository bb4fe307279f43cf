"""The spaCy component."""

from spacy_nmparse.compiled import require_compiled
from spacy_nmparse.spacy_version import require_spacy

require_spacy()
require_compiled("spacy_nmparse.pipe.doc_io")
