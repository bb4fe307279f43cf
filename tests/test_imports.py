"""Imports run downward, and never in a circle: those within functions and for annotations, too."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1]
PACKAGE = "spacy_nmparse"
#: Each folder imports from itself and from those behind it: none from the lab.
ORDER = (
    *("lab", "cli", "analysis", "ud", "pipe"),
    *("learning", "search", "scorers", "layers", "systems"),
)
#: What the top level offers to all folders; the rest of it (entry points) is above them.
SHARED = ("spacy_version", "about", "compiled", "private", "settings", "terminal", "wording")


def imports() -> dict[str, set[str]]:
    """The modules that each module names in an import or a cimport, wherever it stands."""
    texts: dict[str, str] = {}
    for path in sorted((SOURCES / PACKAGE).rglob("*.*")):
        if path.suffix in (".py", ".pyx", ".pxd"):
            name = ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(
                ".__init__"
            )
            text = path.read_text(encoding="utf-8")
            texts[name] = texts.get(name, "") + re.sub(r'"""[\s\S]*?"""|#.*', "", text)
    found: dict[str, set[str]] = {}
    for name, text in texts.items():
        statements = re.findall(rf"from ({PACKAGE}[\w.]*) c?import (?:\(([^)]*)\)|(.+))", text)
        modules = set(re.findall(rf"(?m)^ *c?import ({PACKAGE}[\w.]*)", text))
        for base, in_brackets, in_line in statements:
            for one in re.findall(r"(\w+)(?: as \w+)?,?", in_brackets or in_line):
                modules.add(f"{base}.{one}" if f"{base}.{one}" in texts else base)
        found[name] = modules - {name}
    return found


def folder(module: str) -> str:
    return next((part for part in module.split(".")[1:2] if part in ORDER), "")


def test_imports_run_downward() -> None:
    graph = imports()
    assert len(graph) > 80
    for module, names in graph.items():
        here = folder(module)
        for name in names:
            there = folder(name)
            if here and not there:
                assert name.split(".")[-1] in SHARED, f"{module} imports {name}"
            elif here:
                assert ORDER.index(here) <= ORDER.index(there), f"{module} imports {name}"


def test_no_circles() -> None:
    TopologicalSorter(imports()).prepare()  # raises CycleError
