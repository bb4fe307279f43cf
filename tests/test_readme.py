"""What the README and the pages in docs/ say is what the package does."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib.util
import inspect
import io
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from thinc.api import Config, get_current_ops, set_current_ops

import spacy_nmparse
from spacy_nmparse import registered, systems
from spacy_nmparse.pipe.spec import SET_BY_COMPONENT
from spacy_nmparse.scorers.features import Features
from spacy_nmparse.scorers.state_scorer import DEFAULT_FEATURES
from tests.pipe.common import TREES, parser_of

ROOT = Path(__file__).resolve().parents[1]
SOURCES = Path(spacy_nmparse.__file__).resolve().parents[1]
README = ROOT / "README.md"
OPTIONS = ROOT / "docs" / "options.md"
PAGES = [
    README,
    ROOT / "PROJECT.md",
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", read(page), re.MULTILINE | re.DOTALL)


def pages_with(what: str) -> pytest.MarkDecorator:
    """The pages in which a pattern is found."""
    found = [page for page in PAGES if re.search(what, read(page), re.MULTILINE)]
    return pytest.mark.parametrize("page", found, ids=lambda page: page.stem)


@pages_with(">>>")
def test_examples(page: Path) -> None:
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner()
    names: dict[str, Any] = {}
    output: list[str] = []
    for number, block in enumerate(blocks(page, "python")):
        if ">>>" not in block:
            continue
        test = parser.get_doctest(block, names, f"{page.name}, block {number}", page.name, 0)
        runner.run(test, out=output.append, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


def test_first_example() -> None:
    program, expected = blocks(README, "python")[0], blocks(README, "text")[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "README.md", "exec"), {})
    assert printed.getvalue() == expected


@pages_with("^```python$")
def test_programs(
    page: Path, trained: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of Python run, on a pipeline, a parser, documents and texts."""
    trained.to_disk(tmp_path / "my_pipeline")
    monkeypatch.chdir(tmp_path)
    nlp = spacy.load("my_pipeline")
    text = TREES[0][0]
    given = {"nlp": nlp, "parser": parser_of(nlp)}
    names: dict[str, Any] = {"text": text, "texts": [text] * 3, "docs": [nlp.make_doc(text)]}
    ops = get_current_ops()
    try:
        for block in blocks(page, "python"):
            # "TREEBANK" is test_first_example's, the tutorials' code is in examples/
            if ">>>" not in block and "TREEBANK" not in block and page.parent.name != "tutorials":
                names |= given
                exec(compile(block, page.name, "exec"), names)
    finally:
        set_current_ops(ops)


@pages_with("^```ini$")
def test_configs(page: Path) -> None:
    """The blocks of configs can be read, and name functions that there are."""
    for block in blocks(page, "ini"):
        sections = re.findall(r"(?m)^\[(.+)\]$", block)
        above = {
            section[: dot.start()]
            for section in sections
            for dot in re.finditer(r"(?<!\*)\.", section)
        }
        whole = "".join(f"[{section}]\n" for section in sorted(above - set(sections))) + block
        Config().from_str(whole, interpolate=False)
        for registry, name in re.findall(r'(?m)^@(\w+) = "(.*)"$', block):
            if name.startswith("spacy-curated-") and not find_spec("spacy_curated_transformers"):
                continue
            assert spacy.registry.has(registry, name), name
        for name in re.findall(r'(?m)^factory = "(.*)"$', block):
            assert spacy.registry.has("factories", name), name


def test_links_and_commands_lead_to_files() -> None:
    """Those to sources lead to the package that is tested: a wheel holds them, too."""
    named = r"\b(?:scripts|benchmarks|configs)/\w+\.(?:py|cfg|yml)\b"
    for page in PAGES:
        links = re.findall(r"\]\(([^)#]+)[^)]*\)", read(page))
        files = [page.parent / link for link in links if not link.startswith("http")]
        for file in [*files, *(ROOT / path for path in re.findall(named, read(page)))]:
            path = file.resolve().relative_to(ROOT)
            place = SOURCES / path if path.is_relative_to("spacy_nmparse") else ROOT / path
            assert place.exists(), f"{page.name}: {path}"


def test_links_lead_to_headings() -> None:
    for page in PAGES:
        for file, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", read(page)):
            target = (page.parent / file) if file else page
            headings = re.findall(r"(?m)^#+ (.+)$", read(target))
            known = {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}
            assert anchor in known, f"{page.name}: {file}#{anchor}"


FACTORIES = ("nm_parser", "nl_covington_parser", "swap_parser")


def defaults(factory: str) -> dict[str, Any]:
    """Every option of a factory, by the name that the tables of options give it."""
    nlp = spacy.blank("xx")
    nlp.add_pipe(factory)
    config = nlp.get_pipe_config(factory)
    found = {name: value for name, value in config.items() if name not in ("system", "model")}
    del found["factory"]
    for block, registry in (("system", "misc"), ("learning", "misc"), ("model", "architectures")):
        function = spacy.registry.get(registry, config[block][f"@{registry}"])
        for name in inspect.signature(function).parameters:
            found[f"{block}.{name}"] = config[block][name]
    found["scorer"] = found["scorer"]["@scorers"]
    found["learning"] = found["learning"]["@misc"]
    found["model.tok2vec"] = found["model.tok2vec"]["@architectures"]
    return found


def value_of(text: str) -> Any:
    """The value that a table writes as in a config."""
    known = {"true": True, "false": False, "null": None}
    if text in known:
        return known[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def test_tables_of_options() -> None:
    documented = {}
    for names, values in re.findall(r"(?m)^\| (`[^|]+`) \| (`[^|]+`) \| [^|]+ \|$", read(OPTIONS)):
        pairs = zip(re.findall("`(.*?)`", names), re.findall("`(.*?)`", values), strict=True)
        for name, value in pairs:
            assert name not in documented
            documented[name] = value_of(value)
    named = {*inspect.signature(registered.ArcEager).parameters, *SET_BY_COMPONENT}
    others = {
        f"system.options.{name}": list(value) if value == () else value
        for name, value in systems.options("arc_eager").items()
        if name not in named
    }
    known = {**defaults("nl_covington_parser"), **defaults("nm_parser"), **others}
    assert documented == known
    assert set(defaults("swap_parser")) <= set(documented)


def test_table_of_components() -> None:
    rows = re.findall(r"(?m)^\|(.+)\|(.+)\|(.+)\|(.+)\|$", read(OPTIONS))
    head, _, *rows = [[cell.strip(" `") for cell in row] for row in rows]
    assert head == ["option", *FACTORIES]
    documented = {row[0]: [value_of(cell) if cell else "" for cell in row[1:]] for row in rows}
    options = [defaults(factory) for factory in FACTORIES]
    names = {name for found in options for name in found if not name.startswith("system.")}
    values = {name: [found.get(name, "") for found in options] for name in names}
    differ = {name: row for name, row in values.items() if any(value != row[0] for value in row)}
    del differ["model.features"]
    assert documented == differ


def test_config_of_the_options() -> None:
    config = Config().from_str("[components]\n\n" + blocks(OPTIONS, "ini")[0])
    component = config["components"]["parser"]
    factory = component.pop("factory")
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    parser = nlp.add_pipe(factory, name="parser", config=component)
    filled = nlp.get_pipe_config("parser")
    nlp.add_pipe(factory, name="default")
    assert filled["system"] == nlp.get_pipe_config("default")["system"]
    assert parser.system_spec.options["nonmonotonic_left"] is True  # type: ignore[attr-defined]


def test_numbers_of_features() -> None:
    features = Features(DEFAULT_FEATURES)
    words, pairs, facts = (len(names) for names in (features.words, features.pairs, features.facts))
    assert f"{words} words, {pairs} pairs and {facts} facts" in read(OPTIONS)


def test_oracles_are_explained() -> None:
    text = read(ROOT / "docs" / "oracles.md")
    for system in ("arc_eager", "arc_standard", "swap_standard"):
        for name in systems.create(system).oracles:
            assert f"`{name}`" in text
        for option in systems.create(system).options:
            assert f"`{option}`" in read(ROOT / "docs" / "systems.md")


def test_one_command_each() -> None:
    for marker in ("demo command", "test command"):
        found = re.findall(rf"<!-- {marker} -->\n```bash\n(.*?)\n```", read(README), re.DOTALL)
        assert len(found) == 1 and "\n" not in found[0]


def test_the_page_on_pypi_has_no_link_to_nowhere() -> None:
    """Files of the repository are not there."""
    path = ROOT / "setup.py"
    if not path.exists():
        pytest.skip("setup.py is not here")
    spec = importlib.util.spec_from_file_location("nmparse_setup", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.page()
    links = re.findall(r"\]\(([^)]*)\)", text) + re.findall(r"(?m)^\[[^]]+\]: (.*)", text)
    assert links and all(link.startswith("https://") for link in links)
    assert "![" not in text and "docs/results.md has every figure" in text
