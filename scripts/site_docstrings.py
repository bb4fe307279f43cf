"""An extension of Griffe for the documentation site: docstrings of the Cython modules.

The site's reference is made from the sources, without importing or compiling them. Signatures of
Cython modules stand in their stubs (``.pyi``), docstrings in the modules (``.pyx``). This puts the
two together.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path
from typing import Any

import griffe

#: The first line of a class or function: indentation and name.
HEADER = re.compile(r"( *)(?:cdef class|class|def|cpdef(?: [\w ]+)?) (\w+)\s*[(:]")
STRING = re.compile(r'\s*("""(?:[^"\\]|\\.|"(?!""))*""")', re.DOTALL)
ASSIGNED = re.compile(r'^(\w+)\.__doc__ = (""".*?""")', re.MULTILINE | re.DOTALL)


def docstrings(source: str) -> Iterator[tuple[str, str]]:
    """The docstrings of a Cython module: dotted name within the module ("" is the module), text."""
    if found := STRING.match(source):
        yield "", literal_eval(found[1])
    for found in ASSIGNED.finditer(source):
        yield found[1], literal_eval(found[2])
    around: list[tuple[int, str]] = []  # indentation and name of the classes and functions
    for found in re.finditer(HEADER.pattern, source, re.MULTILINE):
        if source[: found.start()].rpartition("\n")[2]:
            continue  # not at the beginning of a line
        indent = len(found[1])
        while around and around[-1][0] >= indent:
            around.pop()
        around.append((indent, found[2]))
        if text := STRING.match(source, _end_of_header(source, found.end() - 1)):
            yield ".".join(name for _, name in around), literal_eval(text[1])


def _end_of_header(source: str, start: int) -> int:
    """Where the body of a class or function begins: behind the colon outside all brackets."""
    depth = 0
    for at in range(start, len(source)):
        letter = source[at]
        depth += (letter in "([{") - (letter in ")]}")
        if letter == ":" and depth == 0:
            return at + 1
    return len(source)


def _constructor(declared: griffe.Class) -> griffe.Function:
    """The constructor of a class whose stub has ``__new__``: Griffe looks for ``__init__``."""
    new = declared.members["__new__"]
    assert isinstance(new, griffe.Function)
    made = griffe.Function("__init__", parameters=new.parameters, lineno=new.lineno)
    made.parent = declared
    return made


def warn_of_missing(documented: griffe.Module | griffe.Class) -> None:
    """Warn of public classes and functions of a stub without a docstring: the build then fails."""
    for name, member in documented.members.items():
        if name.startswith("_") or member.is_alias or not (member.is_class or member.is_function):
            continue
        if member.docstring is None:
            griffe.logger.warning(f"{member.path} has no docstring in the .pyx file")
        if isinstance(member, griffe.Class):
            warn_of_missing(member)


class CythonDocstrings(griffe.Extension):
    """Gives what the stubs of Cython modules declare the docstrings of the modules."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        """Called once the package is read."""
        modules = [pkg]
        while modules:
            module = modules.pop()
            modules += module.modules.values()
            stub = module.filepath
            if isinstance(stub, Path) and stub.suffix == ".pyi":
                source = stub.with_suffix(".pyx").read_text(encoding="utf-8")
                self._document(module, source, loader)
                warn_of_missing(module)
                for declared in module.classes.values():
                    if not declared.is_alias and "__new__" in declared.members:
                        declared.set_member("__init__", _constructor(declared))

    def _document(self, module: griffe.Module, source: str, loader: griffe.GriffeLoader) -> None:
        for name, text in docstrings(source):
            found: Any = module
            for part in filter(None, name.split(".")):
                found = found.members.get(part) if hasattr(found, "members") else None
                if found is None or found.is_alias:
                    break
            else:
                if found.docstring is None:
                    found.docstring = griffe.Docstring(
                        cleandoc(text),
                        lineno=1,
                        parent=found,
                        parser=loader.docstring_parser,
                        parser_options=loader.docstring_options,
                    )
