"""A hook of MkDocs: pages that are not in docs/, the player on the front page, and links.

Pages in docs/ link to files of the repository: ``../README.md#install``, ``../examples/x.py``. On
the site, links to pages lead to them, and other files are named without a link.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from spacy_nmparse import systems
from spacy_nmparse.analysis import derive_gold
from spacy_nmparse.analysis.page import render_page

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))
from scripts.api_pages import ENTRY  # noqa: E402

#: Pages outside docs/, and where they are on the site; its first page is docs/index.md.
PAGES = {
    "README.md": "overview.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "PROJECT.md": "PROJECT.md",
    "benchmarks/README.md": "benchmarks/README.md",
}
SOURCES = {place: path for path, place in PAGES.items()}
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def player() -> str:
    """The page of a derivation with arcs that cross."""
    labels = ["det", "nsubj:pass", "aux:pass", "ROOT", "case", "det", "nmod", "advmod"]
    system = systems.create("swap_standard", sorted({*labels}))
    gold = systems.Gold([1, 3, 3, 3, 6, 6, 1, 3], labels)
    words = ["A", "hearing", "is", "scheduled", "on", "the", "issue", "today"]
    return render_page(derive_gold(system, gold, "lazy", words))


def on_files(files: Files, config: Any) -> Files:
    """Add the pages outside docs/, and the player."""
    for path, place in PAGES.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=text))
    files.append(File.generated(config, "player.html", content=player()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Turn a page's links to where their files are on the site, and let the reference take the
    place of what the repository's pages have of it."""
    markdown = ENTRY.sub(r"\1", markdown)
    here = page.file.src_uri
    source = SOURCES.get(here, f"docs/{here}")

    def turned(found: re.Match[str]) -> str:
        text, link, anchor = found.groups(default="")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
        if path in PAGES or path.startswith("docs/"):
            place = PAGES.get(path, path.removeprefix("docs/"))
            return f"[{text}]({posixpath.relpath(place, posixpath.dirname(here) or '.')}{anchor})"
        if not (ROOT / path).exists():
            return found[0]  # MkDocs warns
        return text if path in text else f"{text} (`{path}`)"

    return LINK.sub(turned, markdown)
