"""The versions of spaCy that this package is made for.

From 3.8.7, the first for Python 3.13, up to the next minor version:
`pipe.doc_io` is compiled against the layout of spaCy's `Doc` and `TokenC`, and `pipe.parser` builds
on `TrainablePipe`; a minor version may change both. setup.cfg and pyproject.toml say the same.
"""

from __future__ import annotations

import re
import warnings
from importlib.metadata import PackageNotFoundError, version

from spacy_nmparse.about import __version__

OLDEST = (3, 8, 7)
BELOW = (3, 9)


def spacy_range() -> str:
    """The versions as pip takes them: ``>=3.8.7,<3.9``."""
    return f">={'.'.join(map(str, OLDEST))},<{'.'.join(map(str, BELOW))}"


def problem() -> str | None:
    """The fault of the installed spaCy, as a message; None: it has none, or there is no spaCy."""
    try:
        installed = version("spacy")
    except PackageNotFoundError:
        return None
    release = tuple(map(int, re.findall(r"\d+", installed)[:3]))
    if OLDEST <= release < BELOW:
        return None
    return (
        f"spacy-nmparse {__version__} works with spaCy {spacy_range()}; installed is spaCy "
        f"{installed}. Install a spaCy of that range (python -m pip install "
        f'"spacy{spacy_range()}") or a spacy-nmparse for this spaCy (python -m pip install '
        f"--upgrade spacy-nmparse)."
    )


def require_spacy() -> None:
    """Called where what needs spaCy is imported.

    Raises:
        ImportError: if spaCy's version is outside the range.
    """
    found = problem()
    if found is not None:
        raise ImportError(found)


def warn_of_spacy() -> None:
    """Called where the package is imported, which spaCy does for every pipeline, ours or not: other
    pipelines must go on, and `systems` works without spaCy."""
    found = problem()
    if found is not None:
        warnings.warn(found, RuntimeWarning, stacklevel=3)
