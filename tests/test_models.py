"""The workflow `models`: a list of treebanks, their licences, and a wheel of each."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts import models
from scripts.licences import UNKNOWN, source_of
from scripts.models import index
from tests.toy_treebank import CONLLU, ROOT


@pytest.fixture
def toy(treebank: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A toy treebank with a licence, in the current folder."""
    (treebank / "README.md").write_text("License: CC BY-SA 4.0\n", encoding="utf-8")
    (treebank / "toy_test-ud-train.conllu").write_text(f"{CONLLU}\n" * 5, encoding="utf-8")
    monkeypatch.chdir(treebank.parent)
    monkeypatch.setattr(models, "ASSETS", Path("."))
    return treebank


def make(lines: str) -> int:
    Path("models.txt").write_text(lines, encoding="utf-8")
    small = ["--set", "components.tok2vec.model.encode.depth=1"]
    return models.main(["models.txt", "packages", *small])


def test_the_demo_is_the_first() -> None:
    assert models.read_list(ROOT / "scripts" / "models.txt")[0].treebank == models.TURKISH


def test_lines(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("# a comment\n\na/UD_X-Y  xx 3 # another\nUD_X-Z en 20 despite-licence\n")
    first, second = models.read_list(path)
    assert (first.path, first.name, first.epochs) == (Path("a/UD_X-Y"), "ud_x_y", 3)
    assert (second.path, second.despite) == (Path("assets/UD_X-Z"), True)
    for wrong in ("UD_X-Y xx", "UD_X-Y xx many", "UD_X-Y xx 3 anyway"):
        path.write_text(f"\n{wrong}\n")
        with pytest.raises(ValueError, match="line 2: TREEBANK LANGUAGE EPOCHS"):
            models.read_list(path)
    path.write_text("a/UD_X-Y xx 1\nb/UD_X-Y xx 1\n")
    with pytest.raises(ValueError, match="two models xx_ud_x_y"):
        models.read_list(path)


def test_licences_are_looked_at_first(
    toy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = toy.parent / "other"
    other.mkdir()
    (toy / "README.md").write_text("License: CC BY-NC-SA 4.0\n", encoding="utf-8")
    assert make("UD_Toy-Test en 1\nother en 1\n") == 1
    said = capsys.readouterr().err
    assert "UD_Toy-Test: its licence, CC-BY-NC-SA-4.0, is none of those" in said
    assert "other names no licence" in said and not Path("packages").exists()
    made = []
    monkeypatch.setattr(models, "make", lambda line, *rest: made.append(line.name))
    monkeypatch.setattr(models, "table", lambda rows: "")
    assert make("UD_Toy-Test en 1 despite-licence\n") == 0
    assert made == ["ud_toy_test"]


def test_missing_treebanks_are_fetched(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = []
    monkeypatch.setattr(models, "run", lambda *command: commands.append(command))
    with pytest.raises(FileNotFoundError, match="UD_No-Such"):
        models.check_licences([models.Line("UD_No-Such", "en", 1, False)])
    ((program, *_, address, folder),) = commands
    assert (program, address, folder) == ("git", f"{models.UD}/UD_No-Such", "UD_No-Such")


def test_models_are_made_once(
    toy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All steps but the last, which needs the network."""
    pytest.importorskip("udtools", reason="needs the package udtools")
    steps = []
    real = models.run

    def run(*command: str) -> None:
        steps.append(command)
        if len(steps) > 4:
            raise RuntimeError("it is begun")
        if "package" not in command:
            return real(*command)
        wheel = Path("packages/en_ud_toy_test-0.1.0/dist/en_ud_toy_test-0.1.0-py3-none-any.whl")
        wheel.parent.mkdir(parents=True, exist_ok=True)
        wheel.write_bytes(b"-" * 1_200_000)
        assert Path(command[3], "meta.json").is_file()
        return None

    monkeypatch.setattr(models, "run", run)
    assert make("UD_Toy-Test en 1\n") == 0
    assert len(steps) == 4
    table = Path("packages/models.md").read_text(encoding="utf-8")
    assert "| `en_ud_toy_test-0.1.0-py3-none-any.whl` | UD_Toy-Test | CC-BY-SA-4.0 | 1.2 |" in table
    capsys.readouterr()
    assert make("UD_Toy-Test en 1\n") == 0
    assert len(steps) == 4 and "en_ud_toy_test is finished" in capsys.readouterr().out
    assert Path("packages/models.md").read_text(encoding="utf-8") == table
    assert make("UD_Toy-Test en 2\n") == 1  # another line, another model
    assert len(steps) == 5 and "it is begun" in capsys.readouterr().err


def test_a_step_that_fails_is_named(toy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (toy / "toy_test-ud-train.conllu").unlink()
    assert make("UD_Toy-Test en 1\n") == 1
    assert "demo.py train" in capsys.readouterr().err
    assert not list(Path("packages").glob("*.json"))


# Licences, as the READMEs of treebanks name them


METADATA = "# Summary\n<pre>\n=== Machine-readable metadata ===\nLicense: {}\nIncludes text: yes\n"


@pytest.mark.parametrize(
    ("file", "named", "licence", "is_open"),
    [
        ("README.md", "CC BY-SA 4.0", "CC-BY-SA-4.0", True),
        ("README.txt", "LGPLLR", "LGPLLR", True),
        ("README.md", "apache-2.0", "Apache-2.0", True),
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


# Wheels


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
    words = " ".join(page.read_text(encoding="utf-8").split())
    assert "offline where spaCy and `scipy-openblas32` are" in words


def test_the_index_names_each_wheel_once(tmp_path: Path) -> None:
    for model in ("a", "b"):
        (tmp_path / model / "dist").mkdir(parents=True)
        (tmp_path / model / "dist" / f"{model}-1.whl").touch()
        (tmp_path / model / "dist" / "own-1.whl").touch()
    page = index(tmp_path)
    assert page.count("<a ") == 3 == page.count(".whl</a>")
    assert 'href="b/dist/b-1.whl">b-1.whl<' in page
