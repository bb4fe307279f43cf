"""A hook of MkDocs: links that leave docs/ work on the site as they do on the repository's page.

Pages in docs/ link to files of the repository: ``../README.md#install``, ``../examples/x.py``. The
site gets a page for each such file, Markdown as it is, other texts as code, and the links are
turned to these pages.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parent.parent
DOCS = "docs"
#: Files outside docs/ that are in the navigation.
IN_NAVIGATION = ("README.md", "CHANGELOG.md", "benchmarks/README.md")
#: The repository's README; the site's first page is docs/index.md.
OVERVIEW = {"README.md": "overview.md"}
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)\s#])")
LANGUAGES = {".py": "python", ".pyx": "cython", ".pxd": "cython", ".cfg": "ini", ".yml": "yaml"}


def target_of(page: str, link: str) -> str | None:
    """The file that a page links to; None: it is no file of the repository.

    Args:
        page, link: the page's path from the repository's root, and a link in it.
    """
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    return path if not path.startswith("..") and (ROOT / path).is_file() else None


def place_of(path: str) -> str:
    """Where a file of the repository stands among the site's sources."""
    if path.startswith(f"{DOCS}/"):
        return path.removeprefix(f"{DOCS}/")
    if path.endswith(".md"):
        return OVERVIEW.get(path, path)
    return f"{path}.md"


def page_for(path: str) -> str:
    """The text of the page for a file outside docs/."""
    if path.endswith(".md"):
        return (ROOT / path).read_text(encoding="utf-8")
    language = LANGUAGES.get(Path(path).suffix, "text")
    return f'# {path}\n\n````{language}\n--8<-- "{path}"\n````\n'


def links_of(page: str) -> list[str]:
    """The files of the repository that a page of Markdown links to."""
    if not page.endswith(".md"):
        return []
    found = LINK.findall((ROOT / page).read_text(encoding="utf-8"))
    return [path for link in found if (path := target_of(page, link))]


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each file that a page links to, and for those that these link to."""
    pages = [f"{DOCS}/{file.src_uri}" for file in files.documentation_pages()]
    sources = {place_of(path): path for path in pages}
    waiting = [*IN_NAVIGATION, *(path for page in pages for path in links_of(page))]
    while waiting:
        path = waiting.pop()
        place = place_of(path)
        if path.startswith(f"{DOCS}/") or place in sources:
            continue
        sources[place] = path
        options = {"content": page_for(path), "inclusion": InclusionLevel.NOT_IN_NAV}
        files.append(File.generated(config, place, **options))
        waiting += links_of(path)
    config.extra["sources"] = sources
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Turn the links of a page to where their files stand on the site."""
    here = config.extra["sources"][page.file.src_uri]

    def turned(found: re.Match[str]) -> str:
        path = target_of(here, found[0])
        if path is None:
            return found[0]
        return posixpath.relpath(place_of(path), posixpath.dirname(page.file.src_uri) or ".")

    return LINK.sub(turned, markdown)
