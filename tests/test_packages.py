"""What the wheels of pipelines need, and the page that lists them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.models import index


def needed(package: str, found: frozenset[str] = frozenset()) -> frozenset[str]:
    """The packages that an installed one needs without extras, those that they need, and so on."""
    try:
        lines = requires(package) or ()
    except PackageNotFoundError:
        return found
    for one in map(Requirement, lines):
        name = canonicalize_name(one.name)
        if name not in found and (one.marker is None or one.marker.evaluate({"extra": ""})):
            found = needed(name, found | {name})
    return found


def test_what_spacy_does_not_bring_is_documented() -> None:
    own = {canonicalize_name(Requirement(one).name) for one in requires("spacy-nmparse") or ()}
    others = (needed("spacy-nmparse") & own) - needed("spacy") - {"spacy"}
    assert others == {"scipy-openblas32"}
    page = Path(__file__).parents[1] / "docs" / "pipelines.md"
    assert "offline where spaCy and `scipy-openblas32` are" in page.read_text(encoding="utf-8")


def test_the_index_names_each_wheel_once(tmp_path: Path) -> None:
    for model in ("a", "b"):
        (tmp_path / model / "dist").mkdir(parents=True)
        (tmp_path / model / "dist" / f"{model}-1.whl").touch()
        (tmp_path / model / "dist" / "own-1.whl").touch()
    page = index(tmp_path)
    assert page.count("<a ") == 3 == page.count(".whl</a>")
    assert 'href="b/dist/b-1.whl">b-1.whl<' in page
