"""An extension of Griffe for the documentation site: docstrings of the Cython modules.

The site's reference is made from the sources. Signatures of Cython modules are in their stubs
(``.pyi``), docstrings in the compiled modules. This puts the two together.
"""

from __future__ import annotations

import re
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Any

import griffe

#: What Cython writes in front of a docstring.
SIGNATURE = re.compile(r"\A[\w.]+(\(.*\)( -> .*)?|: .*)\n")


class CythonDocstrings(griffe.Extension):
    """Gives what the stubs of Cython modules declare the docstrings of the modules."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        """Called once the package is read."""
        modules = [pkg]
        while modules:
            module = modules.pop()
            modules += [one for one in module.modules.values() if not one.is_alias]
            if isinstance(module.filepath, Path) and module.filepath.suffix == ".pyi":
                self._document(module, import_module(module.path), loader)

    def _document(self, declared: Any, made: Any, loader: griffe.GriffeLoader) -> None:
        """Document a module or class, and what it declares."""
        for name, member in list(declared.members.items()):
            if member.is_alias or not (
                member.is_class or member.is_function or "property" in member.labels
            ):
                continue
            if name == "__new__":  # Griffe looks for __init__
                init = griffe.Function("__init__", parameters=member.parameters)
                declared.set_member("__init__", init)
            elif not name.startswith("_"):
                if text := SIGNATURE.sub("", getattr(made, name).__doc__ or ""):
                    member.docstring = griffe.Docstring(
                        cleandoc(text),
                        parent=member,
                        parser=loader.docstring_parser,
                        parser_options=loader.docstring_options,
                    )
                elif not member.is_attribute:
                    griffe.logger.warning(f"{member.path} has no docstring in the .pyx file")
                if member.is_class:
                    self._document(member, getattr(made, name), loader)
