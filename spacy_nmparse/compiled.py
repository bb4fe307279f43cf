"""The error where the sources are found and their compiled modules are not."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def require_compiled(module: str) -> None:
    """Called by packages whose modules need a compiler.

    Args:
        module: One of these modules.

    Raises:
        ImportError: if it is not compiled: Python runs in a checkout, and the package is installed
            elsewhere or not at all.
    """
    if find_spec(module) is None:
        folder = Path(__file__).parent
        raise ImportError(
            f"{module} is not compiled in {folder}, where Python finds it first. Compile it there "
            f'(python -m pip install -e "{folder.parent}"), or run Python in another folder.'
        )
