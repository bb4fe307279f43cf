"""The documentation site: its navigation, reference and tutorials. The build is `nox -s docs`."""

from __future__ import annotations

import configparser
import importlib
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest
import srsly

from scripts import api_pages
from spacy_nmparse import analysis, settings, systems
from tests.test_examples import main_of
from tests.test_readme import ROOT, blocks, read

DOCS = ROOT / "docs"
SITE: dict[str, Any] = srsly.read_yaml(ROOT / "mkdocs.yml")
REFERENCE = "".join(read(page) for page in sorted((DOCS / "api").glob("*.md")))
IDENTIFIERS = re.findall(r"^<!-- ::: (\S+)$", REFERENCE, re.MULTILINE)


def pages_of(entry: Any) -> Iterator[str]:
    """The pages of a part of the navigation."""
    if isinstance(entry, str):
        yield entry
    else:
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from pages_of(part)


def test_navigation_has_every_page() -> None:
    pages = list(pages_of(SITE["nav"]))
    assert len(set(pages)) == len(pages)
    written = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    outside = {"overview.md", "CHANGELOG.md", "PROJECT.md", "benchmarks/README.md"}  # site_pages.py
    assert set(pages) == written | outside


def test_reference_names_what_exists() -> None:
    for identifier in IDENTIFIERS:
        module, _, name = identifier.rpartition(".")
        assert getattr(importlib.import_module(module), name).__doc__, identifier


@pytest.mark.parametrize("page", sorted(path.name for path in (DOCS / "api").glob("*.md")))
def test_the_reference_is_read_in_the_repository(page: str) -> None:
    """`python -m scripts.api_pages` writes it."""
    text = read(DOCS / "api" / page)
    assert text == api_pages.written(text)
    assert text.count(":::") == text.count("-->\n### ")


def test_the_table_of_settings_is_that_of_the_code() -> None:
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    table = page.split("<!-- settings -->\n\n")[1].split("\n\n<!-- end -->")[0]
    assert table == "\n".join(settings.table())


def test_reference_is_complete() -> None:
    settings = configparser.ConfigParser(delimiters="=")
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    points = settings["options.entry_points"]
    for registry in ("architectures", "misc", "callbacks", "readers", "scorers", "tokenizers"):
        for name in re.findall(r"(?m)^(\S+) = ", points[f"spacy_{registry}"]):
            assert f"heading: {name}\n" in REFERENCE, name
    for module in (analysis, systems):
        for name in module.__all__:
            if name != "ROOT":
                assert f"{module.__name__}.{name}" in IDENTIFIERS
    everyone = set.intersection(*(set(systems.create(name).options) for name in systems.names()))
    assert everyone == {"single_root", "segment", "root_label"}
    for name in systems.names():
        made = systems.create(name)
        described = f"{type(made).__module__}.{type(made).__name__}" in IDENTIFIERS
        assert described == (made.options.keys() > everyone), name


def test_each_system_has_its_bibtex() -> None:
    page = read(DOCS / "citing.md")
    for name in systems.names():
        assert f"`{name}`" in page or f"(`{name}`" in page, name
    for title in re.findall(r"    title: (.*)", read(ROOT / "CITATION.cff")):
        assert f"{{{title}}}" in page, title


def test_code_of_tutorials_is_that_of_examples() -> None:
    code = "".join(read(path) for path in sorted((ROOT / "examples").glob("*.py")))
    for page in sorted((DOCS / "tutorials").glob("*.md")):
        for block in blocks(page, "python"):
            assert block in code or textwrap.indent(block, "    ") in code, (page.name, block)


def test_the_first_page_begins_as_the_readme() -> None:
    for title in ("Install", "First parse"):
        first = read(DOCS / "index.md").partition(f"## {title}\n\n")[2].partition("\n## ")[0]
        assert first and first in read(ROOT / "README.md")


@pytest.mark.parametrize(
    ("page", "example"), [("stepping", "step_by_step"), ("documents", "crossing_arcs")]
)
def test_output_in_tutorials(page: str, example: str, capsys: pytest.CaptureFixture[str]) -> None:
    main_of(example)([])
    printed = capsys.readouterr().out
    found = blocks(DOCS / "tutorials" / f"{page}.md", "text")
    assert found
    for block in found:
        assert block in printed
