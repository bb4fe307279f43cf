"""What to do where a compiled module of this package is missing.

Python run in a checkout imports the package from there, not from where it is installed. If it was
installed without ``-e``, nothing is compiled there. What needs no compiled module works all the
same, such as spaCy's look at the entry points; the first import of one fails.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType


class Uncompiled(MetaPathFinder):
    """Asked last, finds nothing, and says what is missing."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for modules that are not of this package, or have no Cython source.

        Raises:
            ModuleNotFoundError: there is the source, and nothing that was compiled from it.
        """
        parent, _, name = fullname.rpartition(".")
        if parent.partition(".")[0] != __package__:
            return None
        for folder in map(Path, path or ()):
            if (folder / f"{name}.pyx").is_file():
                root = Path(__file__).resolve().parent
                raise ModuleNotFoundError(
                    f"{fullname} is not compiled in {root}, from where Python imports the package. "
                    f"Compile it there with 'python -m pip install -e .' in {root.parent}; or, if "
                    f"spacy-nmparse is installed elsewhere, run the command in another folder.",
                    name=fullname,
                )
        return None


def explain() -> None:
    """Let imports of modules that are not compiled say what to do."""
    sys.meta_path.append(Uncompiled())
