"""Writes signatures and docstrings into the pages of docs/api/, which are read in the repository.

    python -m scripts.api_pages

A page names what it describes as ``<!-- ::: NAME``; options of the site's reference are on further
lines, ``-->`` is on the last. What is behind it, to ``<!-- end -->``, is written here. On the site
the reference takes its place (``scripts/site_pages.py``).
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "api"
#: The name, the site's options, what is written.
ENTRY = re.compile(r"(?ms)^<!-- (::: (\S+)\n(.*?))-->\n(.*?)<!-- end -->$")
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def written(page: str) -> str:
    """A page with the descriptions of what it names."""
    return ENTRY.sub(lambda entry: f"<!-- {entry[1]}-->\n{_entry(entry)}\n<!-- end -->", page)


def _entry(entry: re.Match[str]) -> str:
    module, _, name = entry[2].rpartition(".")
    described = getattr(import_module(module), name)
    heading = re.search(r"heading: (\S+)", entry[3])
    lines = [described_as(described), ""]
    lines += textwrap.indent(inspect.getdoc(described) or "", "    ").splitlines()
    if isinstance(described, type):
        everything = "inherited_members: true" in entry[3]
        for signature, doc in _members(described, everything):
            lines += ["", f"    {signature}"]
            lines += textwrap.indent(doc, " " * 8).splitlines()
    text = "\n".join(line.rstrip() for line in lines)
    return f"### `{heading[1] if heading else name}`\n\n```text\n{text}\n```"


def described_as(described: Any) -> str:
    """The signature of a function or class, as its source has it."""
    node = _node(described)
    if isinstance(node, FUNCTION):
        return _signature(node)
    found = {one.name: one for one in node.body if isinstance(one, FUNCTION)}
    for name in ("__init__", "__new__"):
        if name in found:
            return _signature(found[name]).replace(name, node.name, 1).split(" -> ")[0]
    fields = [ast.unparse(one) for one in node.body if isinstance(one, ast.AnnAssign)]
    return f"{node.name}({', '.join(one for one in fields if not one.startswith('_'))})"


def _members(described: type, everything: bool) -> Iterator[tuple[str, str]]:
    """Signatures and docstrings of the public methods and properties of a class."""
    seen = set()
    for one in described.__mro__ if everything else (described,):
        if not one.__module__.startswith("spacy_nmparse"):
            continue
        for node in _node(one).body:
            doc = isinstance(node, FUNCTION) and inspect.getdoc(getattr(one, node.name))
            if doc and node.name not in seen and not node.name.startswith("_"):
                seen.add(node.name)
                of = [ast.unparse(mark) for mark in node.decorator_list]
                yield (
                    node.name if {"property", "cached_property"} & {*of} else _signature(node),
                    doc,
                )


def _node(described: Any) -> Any:
    """The definition in the module's stub or source."""
    path = ROOT / described.__module__.replace(".", "/")
    places = (path.with_suffix(".pyi"), path.with_suffix(".py"), path / "__init__.py")
    tree = ast.parse(next(one for one in places if one.is_file()).read_text(encoding="utf-8"))
    name = described.__name__
    return next(one for one in tree.body if getattr(one, "name", None) == name)


def _signature(node: Any) -> str:
    arguments = re.sub(r"^(self|cls)(, )?(/, )?", "", ast.unparse(node.args))
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({arguments}){returned}"


def main() -> None:
    """Write all pages."""
    for path in sorted(PAGES.glob("*.md")):
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
