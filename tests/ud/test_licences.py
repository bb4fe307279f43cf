"""The licences of treebanks, as their files word them."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacy_nmparse.ud.licences import UNKNOWN, source_of

METADATA = "# Summary\n<pre>\n=== Machine-readable metadata ===\nLicense: {}\nIncludes text: yes\n"


@pytest.mark.parametrize(
    ("file", "text", "licence", "forbids"),
    [
        ("README.md", METADATA.format("CC BY-SA 4.0"), "CC BY-SA 4.0", False),
        ("README.md", METADATA.format("CC BY-NC-SA 3.0 "), "CC BY-NC-SA 3.0", True),
        ("README.txt", METADATA.format("LGPLLR"), "LGPLLR", False),
        ("README.md", METADATA.format("non-commercial use"), "non-commercial use", True),
        ("LICENSE.txt", "Attribution-ShareAlike 4.0 International", "CC BY-SA 4.0", False),
        ("LICENSE.txt", "Creative Commons BY-NC-SA 3.0", "CC BY-NC-SA 3.0", True),
        ("LICENSE.txt", "under CreativeCommons BY-ND 4.0", "CC BY-ND 4.0", True),
        ("LICENSE", "Attribution-NonCommercial-\nShareAlike 3.0", "CC BY-NC-SA 3.0", True),
        ("LICENSE", "http://creativecommons.org/licenses/by-nc/4.0/", "CC BY-NC 4.0", True),
        ("LICENSE", "Attribution-NoDerivs 3.0 Unported", "CC BY-ND 3.0", True),
        ("LICENSE", "GNU General Public\nLicense", "GNU General Public License", False),
    ],
)
def test_licence(tmp_path: Path, file: str, text: str, licence: str, forbids: bool) -> None:
    (tmp_path / file).write_text(text, encoding="utf-8")
    source = source_of(tmp_path)
    assert source.licence == licence and source.name == tmp_path.name
    assert bool(source.objection) is forbids
    if forbids:
        assert source.name in source.objection and licence in source.objection


def test_each_file_counts(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(METADATA.format("CC BY-SA 4.0"), encoding="utf-8")
    (tmp_path / "LICENSE.txt").write_text("The texts are CC BY-NC-SA 4.0.", encoding="utf-8")
    source = source_of(tmp_path)
    assert source.licence == "CC BY-SA 4.0" and "CC BY-NC-SA 4.0" in source.objection


def test_no_licence_is_an_objection(tmp_path: Path) -> None:
    assert "names no licence" in source_of(tmp_path).objection
    assert source_of(tmp_path).licence == UNKNOWN


def test_a_package_has_a_licence() -> None:
    pytest.importorskip("turkish_treebanks", reason="needs the package turkish-treebanks")
    source = source_of(Path("turkish-treebanks"))
    assert source.licence == "Apache 2.0" and not source.objection and "github" in source.url
    with pytest.raises(FileNotFoundError, match="no folder, no package"):
        source_of(Path("no-such-treebank"))
