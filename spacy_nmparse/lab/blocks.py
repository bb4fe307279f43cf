"""Config blocks of the lab's systems."""

# No postponed annotations: spaCy validates configs by these signatures.

from spacy_nmparse.pipe.spec import SystemSpec


def ArcSwift() -> SystemSpec:
    """The arc-swift system for a config block, to be scored by an arc scorer; see
    ``spacy_nmparse.lab.arc_swift``."""
    return SystemSpec("arc_swift")
