"""The licences of treebanks, as their READMEs name them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.licences import UNKNOWN, source_of

METADATA = "# Summary\n<pre>\n=== Machine-readable metadata ===\nLicense: {}\nIncludes text: yes\n"


@pytest.mark.parametrize(
    ("file", "named", "licence", "is_open"),
    [
        ("README.md", "CC BY-SA 4.0", "CC-BY-SA-4.0", True),
        ("README.txt", "LGPLLR", "LGPLLR", True),
        ("README.md", "CC BY-NC-SA 3.0 ", "CC-BY-NC-SA-3.0", False),
        ("README.md", "CC BY-ND 4.0", "CC-BY-ND-4.0", False),
        ("README.md", "non-commercial use", "non-commercial-use", False),
        ("README.md", "see LICENSE.txt", "see-LICENSE.txt", False),
    ],
)
def test_licence(tmp_path: Path, file: str, named: str, licence: str, is_open: bool) -> None:
    (tmp_path / file).write_text(METADATA.format(named), encoding="utf-8")
    source = source_of(tmp_path)
    assert (source.name, source.licence) == (tmp_path.name, licence)
    assert (source.objection == "") is is_open
    if not is_open:
        assert source.name in source.objection and licence in source.objection


def test_no_licence_is_an_objection(tmp_path: Path) -> None:
    assert "names no licence" in source_of(tmp_path).objection
    assert source_of(tmp_path).licence == UNKNOWN


def test_only_treebanks_of_universal_dependencies_have_a_page_there(tmp_path: Path) -> None:
    for name, page in (("UD_Old_French-PROFITEROLE", True), ("my_corpus", False)):
        (tmp_path / name).mkdir()
        url = source_of(tmp_path / name).url
        assert url == (f"https://github.com/UniversalDependencies/{name}" if page else "")


def test_a_package_has_a_licence() -> None:
    pytest.importorskip("turkish_treebanks", reason="needs the package turkish-treebanks")
    source = source_of(Path("turkish-treebanks"))
    assert source.licence == "Apache-2.0" and not source.objection and "github" in source.url
    with pytest.raises(FileNotFoundError, match="no folder, no package"):
        source_of(Path("no-such-treebank"))
