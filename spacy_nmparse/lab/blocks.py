"""Config blocks of the lab's systems."""

# No postponed annotations: spaCy validates configs by these signatures.

from typing import Any

from spacy_nmparse.registered import System


def ArcSwift() -> Any:
    """The arc-swift system for a config block, to be scored by an arc scorer; see
    ``spacy_nmparse.lab.arc_swift``."""
    return System("arc_swift")
