"""The guide to writing a system quotes the file of a system, all of it but what is imported."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "docs" / "add_a_system.md").read_text(encoding="utf-8")
SOURCES = ROOT / "spacy_nmparse"
SYSTEM = (SOURCES / "systems" / "arc_hybrid.pyx").read_text(encoding="utf-8")
REGISTRY = (SOURCES / "systems" / "__init__.py").read_text(encoding="utf-8")


def test_the_guide_quotes_the_file() -> None:
    quoted = re.findall(r"^```cython\n(.*?)^```$", GUIDE, flags=re.DOTALL | re.MULTILINE)
    assert all(block in SYSTEM for block in quoted)
    rest = SYSTEM
    for block in quoted:
        rest = rest.replace(block, "")
    functions = re.findall(r"^cdef (?:\w+ )+(\w+)\(", rest, flags=re.MULTILINE)
    assert functions == []
    assert len(SYSTEM.splitlines()) <= 235


def test_one_line_registers_it() -> None:
    assert '"arc_hybrid": "arc_hybrid:ArcHybrid",\n' in GUIDE
    assert REGISTRY.count("arc_hybrid") == 2  # both in that line
    code = [*SOURCES.rglob("*.py"), *SOURCES.rglob("*.p[yx][xd]")]
    code = [path for path in code if "lab" not in path.parts]
    naming = {path.name for path in code if re.search("arc_?hybrid", path.read_text("utf-8"), re.I)}
    assert naming == {"__init__.py", "arc_hybrid.pyx"}
